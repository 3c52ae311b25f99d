// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import io.quorate.sst.stream.Catalog.Account;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Makes of the grants of one server those that another one can make, which may be of another series: each series has
 * dynamic privileges of its own, GRANT ALL gives all of them, and a grant with one that isn't known fails as a whole.
 */
final class KnownRights {
    private static final Pattern GLOBAL = Pattern.compile("GRANT ([A-Z0-9_, ]+) ON \\*\\.\\* TO (.*)", Pattern.DOTALL);

    /** Until MySQL 8.2, and what it allows since then. */
    private static final String ANY_DEFINER_BEFORE = "SET_USER_ID";

    private static final List<String> ANY_DEFINER = List.of("ALLOW_NONEXISTENT_DEFINER", "SET_ANY_DEFINER");

    private final Set<String> known;
    private final Consumer<String> left;

    /**
     * @param known names of the dynamic privileges of the server that is to have the accounts
     * @param left is told what it can't have
     */
    KnownRights(Set<String> known, Consumer<String> left) {
        this.known = known;
        this.left = left;
    }

    /** The global privileges that a grant gives. */
    static List<String> global(String grant) {
        Matcher matcher = GLOBAL.matcher(grant);
        return matcher.matches() ? List.of(matcher.group(1).split(", ?")) : List.of();
    }

    Account of(Account account) {
        List<String> grants = new ArrayList<>();
        for (String grant : account.grants()) {
            Matcher matcher = GLOBAL.matcher(grant);
            if (!matcher.matches()) {
                grants.add(grant);
                continue;
            }
            List<String> all = List.of(matcher.group(1).split(", ?"));
            List<String> rights = of(account, all);
            if (rights.equals(all)) {
                grants.add(grant);
            } else if (!rights.isEmpty()) {
                grants.add("GRANT " + String.join(",", rights) + " ON *.* TO " + matcher.group(2));
            }
        }
        return new Account(
                account.user(), account.host(), account.create(), grants, account.roles(), account.defaultRoles());
    }

    private List<String> of(Account account, List<String> rights) {
        if (rights.stream().allMatch(this::isKnown)) {
            return rights;
        }
        Set<String> here = new TreeSet<>(); // In the order in which servers show them.
        for (String right : rights) {
            if (isKnown(right)) {
                here.add(right);
            } else if (right.equals(ANY_DEFINER_BEFORE) && known.containsAll(ANY_DEFINER)) {
                here.addAll(ANY_DEFINER);
            } else if (ANY_DEFINER.contains(right) && known.contains(ANY_DEFINER_BEFORE)) {
                here.add(ANY_DEFINER_BEFORE);
            } else {
                left.accept("the right " + right + ", which this server doesn't have [" + account.name() + "]");
            }
        }
        return List.copyOf(here);
    }

    /** Names of static privileges have blanks instead. */
    private boolean isKnown(String right) {
        return !right.contains("_") || known.contains(right);
    }
}
