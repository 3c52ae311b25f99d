// SPDX-License-Identifier: Apache-2.0
// Shows what /events says once a second: members, curves, transfers, the audit, conflicts. Whatever comes from a node is
// set as text, never as markup.
'use strict';

const SECONDS_SHOWN = 300;
/** A node that says nothing for that long is frozen, or can't be reached. */
const SILENT_MILLIS = 5000;
const CONNECT_AGAIN_MILLIS = 5000;
/** A connection to a host that was cut off never ends by itself. */
const DEAD_MILLIS = 30000;
/** As "quorate" has it. */
const ANSWER_MILLIS = 60000;
const READY = ['SYNCED', 'DONOR', 'ARBITRATOR'];
const COMING = ['JOINER', 'JOINED', 'CONNECTED', 'OPEN'];

const byId = id => document.getElementById(id);

/** An element with text and children. */
function make(name, text, ...children) {
  const element = document.createElement(name);
  if (text !== null && text !== undefined) element.textContent = text;
  element.append(...children);
  return element;
}

const number = value => value === null || value === undefined ? '–' : Number(value).toLocaleString('en');
const megabytes = bytes => number(Math.round(bytes / 1048576)) + ' MB';

function duration(seconds) {
  if (seconds < 60) return seconds + ' s';
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return minutes + ' min';
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return hours + ' h ' + minutes % 60 + ' min';
  return hours < 60 * 24 ? Math.floor(hours / 24) + ' days' : 'over 60 days';
}

function level(state) {
  return READY.includes(state) ? 'OK' : COMING.includes(state) ? 'ATTENTION' : 'STOPPED';
}

// Members

function returns(seconds) {
  if (seconds < 0) return 'can come back by a transfer: nothing is being written';
  return seconds === 0
      ? 'is away for too long: it needs a full copy'
      : 'can come back by a transfer for ' + duration(seconds) + ' more, at the present rate';
}

function notes(member, status) {
  const all = [];
  if (member.state === 'ABSENT' && member.absentSeconds) all.push('away for ' + duration(member.absentSeconds));
  if (status && status.reason) all.push(status.reason);
  if (member.cause) all.push(member.cause);
  if (status && status.slowed) all.push(status.slowed);
  if (member.leftBehind) all.push('was too far behind for too long: nobody waits for it until it is level');
  if (member.drained) all.push('drained: clients can\'t write to its server');
  if (member.desynced) all.push('desynced: nobody waits for it');
  if (member.waitingMillis >= 1000) {
    all.push(member.waitingCommits + ' commits wait for their verdict, the first for '
        + duration(Math.floor(member.waitingMillis / 1000)));
  }
  if (member.canReturnForSeconds !== null && member.canReturnForSeconds !== undefined) {
    all.push(returns(member.canReturnForSeconds));
  }
  return all;
}

const cards = new Map();

/** Fills an element anew only when what it shows is something else: a button must not go while it is being pressed. */
function fill(element, signature, build) {
  const now = JSON.stringify(signature);
  if (element.dataset.shows !== now) {
    element.dataset.shows = now;
    element.replaceChildren(...build());
  }
}

function card(member, status, asked) {
  let parts = cards.get(member.name);
  if (!parts) {
    parts = {head: make('h3'), facts: make('dl'), notes: make('div'), buttons: make('div')};
    parts.buttons.className = 'buttons';
    parts.box = make('article', null, parts.head, parts.facts, parts.notes, parts.buttons);
    cards.set(member.name, parts);
  }
  parts.box.className = 'card ' + level(member.state);
  const state = make('span', member.state);
  state.className = level(member.state);
  parts.head.replaceChildren(make('span', member.name + (member.leader ? ' ★ leads' : '')), state);
  parts.facts.replaceChildren();
  const fact = (name, value) => parts.facts.append(make('dt', name), make('dd', value));
  fact('order', member.address);
  if (member.mysql) fact('MySQL', member.mysql + (member.version ? ' (' + member.version + ')' : ''));
  fact('ordered', number(member.ordered));
  if (member.mysql) {
    fact('applied', number(member.applied) + ', ' + number(member.appliedPerSecond) + '/s');
    fact('behind', member.lagMillis === null ? '–' : number(member.lagMillis) + ' ms, ' + number(member.queue)
        + ' writesets');
    if (member.waitingCommits) fact('waiting commits', number(member.waitingCommits));
  }
  parts.notes.replaceChildren(...notes(member, status).map(text => {
    const line = make('p', text);
    line.className = 'small';
    return line;
  }));
  fill(parts.buttons, [member.leader, member.state, member.desynced, member.drained, !!member.mysql],
      () => buttons(member, asked));
  return parts.box;
}

/** Any node can be asked for these; a node itself only on its own page. */
function buttons(member, asked) {
  const all = [];
  const add = (name, action) => {
    const button = make('button', name);
    button.addEventListener('click', () => ask(action));
    all.push(button);
  };
  if (!member.leader && READY.includes(member.state)) {
    add('lead', {
      title: 'Have ' + member.name + ' lead',
      what: 'What is written at the leader\'s server is ordered after one round trip, what is written elsewhere after'
          + ' two. Nothing is refused meanwhile.',
      path: 'actuator/members', body: () => ({action: 'lead', member: member.name})});
  }
  if (member.name === asked && member.mysql) {
    if (member.drained) {
      add('undrain', {
        title: 'Let clients connect to ' + asked + ' again', what: 'Ends what drain began.',
        path: 'actuator/drain', method: 'DELETE'});
    } else {
      add('drain', {
        title: 'Drain ' + asked,
        what: 'Clients of its server are disconnected and can\'t connect any more, and the node waits until the order'
            + ' has all that they have committed: what to do before mysqld is stopped. "undrain" ends it.',
        path: 'actuator/drain', body: () => ({})});
    }
    add(member.desynced ? 'resync' : 'desync', {
      title: member.desynced ? 'Resync ' + asked : 'Desync ' + asked,
      what: member.desynced
          ? 'The others wait for it again.'
          : 'The others don\'t wait for it, however far behind it is, as during a backup.',
      path: 'actuator/members', body: () => ({action: member.desynced ? 'resync' : 'desync'})});
    add('heal', {
      title: 'Heal tables of ' + asked,
      what: 'Its server gets these tables, and those that foreign keys tie to them, from another node. What it has of'
          + ' them goes. Its clients can\'t connect until it is level again.',
      value: 'SCHEMA.TABLE, several separated by commas',
      path: 'actuator/heal', body: tables => ({tables: tables})});
  }
  add('leave', {
    title: 'Take ' + member.name + ' out',
    what: 'The cluster goes on without it, and a majority is of fewer members then. Its data stays where it is.',
    path: 'actuator/members', body: () => ({action: 'leave', member: member.name})});
  return all;
}

// Curves of the last five minutes

const curves = [
  {name: 'ordered', unit: '/s', of: look => Math.max(0, ...present(look).map(m => m.orderedPerSecond))},
  {name: 'largest lag', unit: ' ms', of: look => Math.max(0, ...present(look).map(m => m.lagMillis || 0))},
  {name: 'longest queue', unit: '', of: look => Math.max(0, ...present(look).map(m => m.queue || 0))},
  {name: 'commits that wait', unit: '', of: look => present(look).reduce((n, m) => n + (m.waitingCommits || 0), 0)}];

const present = look => look.members.members.filter(m => m.state !== 'ABSENT' && m.orderedPerSecond !== null);

function makeCurves() {
  for (const curve of curves) {
    curve.points = [];
    curve.now = make('span');
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    svg.setAttribute('viewBox', '0 0 ' + SECONDS_SHOWN + ' 100');
    svg.setAttribute('preserveAspectRatio', 'none');
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', curve.name);
    curve.line = document.createElementNS('http://www.w3.org/2000/svg', 'polyline');
    svg.append(curve.line);
    const figure = make('figure', null, make('figcaption', null, make('span', curve.name), curve.now), svg);
    figure.className = 'card';
    byId('curves').append(figure);
  }
}

function draw(look) {
  for (const curve of curves) {
    curve.points.push(curve.of(look));
    if (curve.points.length > SECONDS_SHOWN) curve.points.shift();
    const most = Math.max(...curve.points);
    const from = SECONDS_SHOWN - curve.points.length;
    curve.line.setAttribute('points', curve.points.map((y, i) => (from + i) + ',' + (97 - 94 * y / Math.max(1, most))).join(' '));
    curve.now.textContent = number(curve.points[curve.points.length - 1]) + curve.unit + ', most ' + number(most);
  }
}

// Transfers, audit

function progress(done, toDo, text) {
  const bar = make('progress');
  bar.max = Math.max(1, done + toDo);
  bar.value = done;
  return make('div', null, make('p', text), bar);
}

const left = millis => millis < 0 ? 'no telling how long' : duration(Math.ceil(millis / 1000)) + ' left';

function showTransfers(transfer) {
  const rows = [];
  const receiving = transfer.receiving;
  if (receiving) {
    rows.push(progress(receiving.done, receiving.toDo, transfer.node + ' receives ' + number(receiving.toDo)
        + ' more writesets from ' + receiving.donors.join(', ') + ', ' + number(receiving.perSecond) + '/s, '
        + left(receiving.etaMillis)));
  }
  const copying = transfer.copying;
  if (copying) {
    rows.push(progress(copying.bytes, copying.toDo, transfer.node + ' copies from ' + (transfer.copyFrom || 'a node')
        + (copying.stage ? ': ' + copying.stage : '') + ', ' + megabytes(copying.toDo) + ' to do, '
        + megabytes(copying.perSecond) + '/s, ' + (copying.stage === 'rows' && copying.etaMillis > 0 ? 'at most ' : '')
        + left(copying.etaMillis)));
  }
  if (transfer.waitsFor) rows.push(make('p', transfer.waitsFor));
  for (const given of transfer.giving) {
    rows.push(progress(given.next - given.from, given.to - given.next,
        transfer.node + ' gives seqnos ' + number(given.from) + ' to ' + number(given.to) + ' to ' + given.joiner));
  }
  byId('transfers').hidden = rows.length === 0;
  byId('transfers').querySelector('div').replaceChildren(...rows);
}

function showAudit(answer) {
  const audit = answer.audit;
  const rows = [];
  if (!audit) {
    rows.push(make('p', answer.node + ' has done none. What another node has found is on that node\'s page. An audit compares'
        + ' every row of every node, while clients write.'));
  } else if (!audit.ended) {
    rows.push(progress(audit.rows, Math.max(0, audit.rowsToDo - audit.rows), number(audit.tablesDone) + ' of '
        + number(audit.tables) + ' tables, ' + number(audit.rows) + ' rows compared, ' + number(audit.found)
        + ' differ' + (answer.waitsFor ? '; ' + answer.waitsFor : '')));
  } else {
    rows.push(make('p', (audit.stopped ? 'Stopped ' : 'Ended ') + audit.ended + ': ' + number(audit.rows) + ' rows of '
        + number(audit.tablesDone) + ' tables on ' + audit.nodes.join(', ') + ' compared; '
        + (audit.found !== 0 ? number(audit.found) + ' DIFFER (quorate audit show).'
            : audit.tablesDone === 0 ? 'so nothing is known.' : 'all equal.')));
    const left = Object.keys(audit.left || {});
    if (left.length) rows.push(make('p', 'Not compared: ' + left.join(', ') + ' (quorate audit status says why).'));
  }
  byId('audit').replaceChildren(...rows);
  const runs = !!audit && !audit.ended;
  fill(byId('audit-buttons'), runs, () => [auditButton(runs)]);
}

function auditButton(runs) {
  const button = make('button', runs ? 'stop' : 'start');
  button.addEventListener('click', () => ask(runs
      ? {title: 'Stop the audit', what: 'What it has found stays.', path: 'actuator/audit',
          body: () => ({action: 'stop'})}
      : {title: 'Audit all tables', what: 'Every row of every node is compared. Clients go on; servers read all'
          + ' tables once.', path: 'actuator/audit', body: () => ({action: 'start'})}));
  return button;
}

// Conflicts

const touched = met => met.map(m => m.table + ' ' + m.key + ' '
    + Object.entries(m.values || {}).map(([column, value]) => column + '=' + value).join(', ')).join('; ');

function showConflicts(answer) {
  byId('no-conflicts').hidden = answer.conflicts.length > 0;
  byId('conflicts').hidden = answer.conflicts.length === 0;
  fill(byId('conflicts').querySelector('tbody'), answer.conflicts, () => answer.conflicts.map(line => {
    const row = make('tr', null, make('td', number(line.seqno)), make('td', line.account || line.loser),
        make('td', line.winnerSeqno ? number(line.winnerSeqno) : '–'), make('td', touched(line.met)),
        make('td', line.verdict), make('td', line.committed));
    row.tabIndex = 0;
    row.addEventListener('click', () => details(line.seqno));
    row.addEventListener('keydown', event => { if (event.key === 'Enter') details(line.seqno); });
    return row;
  }));
}

function rows(title, transaction) {
  const box = make('div', null, make('h3', title));
  if (!transaction) {
    box.append(make('p', 'no longer known'));
    return box;
  }
  box.append(make('p', transaction.gtid + ', committed ' + transaction.committed + ', ' + number(transaction.rowCount)
      + ' rows'));
  if (transaction.statement) box.append(make('pre', transaction.statement));
  for (const row of transaction.rows) {
    box.append(make('pre', row.table + '\n  before ' + JSON.stringify(row.before) + '\n  after  '
        + JSON.stringify(row.after)));
  }
  return box;
}

async function details(seqno) {
  const dialog = byId('details');
  dialog.querySelector('h2').textContent = 'Seqno ' + number(seqno);
  const box = dialog.querySelector('.both');
  box.replaceChildren(make('p', '...'));
  dialog.showModal();
  let conflict;
  try {
    const response = await fetch('actuator/conflicts/' + seqno, {signal: AbortSignal.timeout(ANSWER_MILLIS)});
    if (!response.ok) {
      box.replaceChildren(make('p',
          response.status === 404 ? 'no longer in this node\'s journal' : await response.text()));
      return;
    }
    conflict = await response.json();
  } catch (e) {
    box.replaceChildren(make('p', 'The node doesn\'t answer: ' + e.message));
    return;
  }
  box.replaceChildren(rows('lost (' + conflict.verdict + ', ' + conflict.undone + ')', conflict.loser),
      rows('against', conflict.winner));
}

// What changes something needs the token.

let token = '';
let asked = null;

function ask(action) {
  const dialog = byId('ask');
  asked = action;
  dialog.querySelector('h2').textContent = action.title;
  byId('what').textContent = action.what;
  byId('value-label').hidden = !action.value;
  byId('value-label').querySelector('span').textContent = action.value || '';
  byId('value').value = '';
  byId('token').value = token;
  byId('answer').textContent = '';
  byId('do').disabled = false;
  byId('do').onclick = async event => {
    event.preventDefault();
    token = byId('token').value.trim();
    byId('answer').textContent = '...';
    byId('do').disabled = true;
    const answer = await send(action, byId('value').value);
    if (asked !== action) return; // Another one is being asked for by now.
    byId('do').disabled = false;
    byId('answer').textContent = answer;
    if (answer === '') dialog.close();
  };
  byId('cancel').onclick = () => dialog.close();
  dialog.showModal();
}

/** Empty when it is done; otherwise why not. */
async function send(action, value) {
  try {
    const response = await fetch(action.path, {
      method: action.method || 'POST',
      headers: {'Content-Type': 'application/json', 'Authorization': 'Bearer ' + token},
      credentials: 'omit',
      signal: AbortSignal.timeout(ANSWER_MILLIS),
      body: action.body ? JSON.stringify(action.body(value)) : undefined});
    if (response.status === 401) return 'That isn\'t the node\'s token.';
    if (!response.ok) return response.status + ' ' + await response.text();
    const outcome = await response.json();
    return outcome.done === false ? outcome.refusal : '';
  } catch (e) {
    return 'The node doesn\'t answer: ' + e.message;
  }
}

// Once a second

function show(look) {
  const health = look.members.health;
  byId('cluster').textContent = look.cluster.cluster;
  byId('sentence').textContent = health.sentence;
  byId('sentence').className = health.level;
  document.title = (health.level === 'OK' ? '' : '! ') + look.cluster.cluster + ' – Quorate';
  byId('asked').textContent = 'as ' + look.members.node + ' sees it';
  byId('contact').textContent = new Date().toLocaleTimeString();
  byId('advice').replaceChildren(...look.members.advice.map(text => make('li', text)));
  const status = new Map(look.cluster.nodes.map(node => [node.name, node]));
  const shown = look.members.members.map(member => card(member, status.get(member.name), look.members.node));
  const members = byId('members');
  if (shown.length !== members.children.length || shown.some((box, i) => box !== members.children[i])) {
    members.replaceChildren(...shown);
  }
  draw(look);
  showTransfers(look.transfer);
  showAudit(look.audit);
  showConflicts(look.conflicts);
}

let heard = Date.now();
let connected = heard;
let events = null;

/** What is still shown is from before. */
function silent() {
  const main = document.querySelector('main');
  if (main.className === 'old') return;
  main.className = 'old';
  byId('sentence').textContent = 'This node doesn\'t answer. Ask another one.';
  byId('sentence').className = 'STOPPED';
  document.title = '! ' + byId('cluster').textContent + ' – Quorate';
}

function listen() {
  if (events) events.close();
  connected = Date.now();
  events = new EventSource('events');
  const here = events;
  events.addEventListener('look', event => {
    show(JSON.parse(event.data));
    document.querySelector('main').className = '';
    heard = Date.now();
  });
  events.addEventListener('error', () => {
    silent();
    // After an answer that is no stream, as while the node starts, a browser doesn't connect again by itself.
    if (here === events && here.readyState === EventSource.CLOSED) setTimeout(listen, CONNECT_AGAIN_MILLIS);
  });
}

makeCurves();
listen();
setInterval(() => {
  if (Date.now() - heard > SILENT_MILLIS) silent();
  if (Date.now() - Math.max(heard, connected) > DEAD_MILLIS) listen();
}, 1000);
