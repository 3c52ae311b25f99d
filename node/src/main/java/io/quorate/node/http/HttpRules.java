// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.http;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.node.config.NodeProperties;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.AuthenticationTrustResolver;
import org.springframework.security.authentication.AuthenticationTrustResolverImpl;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.authorization.AuthorizationDecision;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.AuthenticationFilter;
import org.springframework.security.web.header.HeaderWriterFilter;
import org.springframework.web.context.request.async.WebAsyncUtils;

/** Who may ask what: whoever has the token everything, anybody on this host what only reads. */
@Configuration(proxyBeanMethods = false)
class HttpRules {
    private static final String WAY_OUT = " Send the node's token as a bearer token, or as the password of HTTP basic:"
            + " it is in http.token in the node's data directory, or where quorate.http.token-file or QUORATE_TOKEN"
            + " say. quorate commands take it by --token-file or QUORATE_TOKEN";

    /** A second port of Actuator's would have none of the limits that hold here. */
    HttpRules(Environment environment) {
        String other = environment.getProperty("management.server.port");
        if (other != null && !other.equals(environment.getProperty("server.port"))) {
            throw new QuorateException(
                    ErrorCode.CONFIGURATION,
                    "Actuator can't have another port than server.port: leave out management.server.port. For probes"
                            + " there is quorate.http.probe-port");
        }
    }

    /** There are no users, only the token. */
    @Bean
    AuthenticationManager credentials(Token token) {
        return said -> {
            if (!token.is(String.valueOf(said.getCredentials()))) {
                throw new BadCredentialsException("not the token");
            }
            return UsernamePasswordAuthenticationToken.authenticated(said.getPrincipal(), null, List.of());
        };
    }

    @Bean
    SecurityFilterChain rules(
            HttpSecurity http, AuthenticationManager credentials, NodeProperties properties, Refusing refusing) {
        FreeReads free = new FreeReads(properties.http().loopbackReads());
        AuthenticationTrustResolver trust = new AuthenticationTrustResolverImpl();
        AuthenticationFilter authentication = new AuthenticationFilter(credentials, new TokenConverter());
        authentication.setSuccessHandler((request, response, who) -> {});
        authentication.setFailureHandler(
                (request, response, e) -> refuse(refusing, request, response, "that isn't this node's token."));
        return http.addFilterBefore(new HostFilter(AllowedHosts.of(properties), refusing), HeaderWriterFilter.class)
                .addFilterAfter(authentication, HeaderWriterFilter.class)
                .authorizeHttpRequests(requests -> requests.dispatcherTypeMatchers(DispatcherType.ERROR)
                        .permitAll()
                        // What was allowed to begin is allowed to end: events that nobody listens to any more.
                        .requestMatchers(HttpRules::isAnswered)
                        .permitAll()
                        .anyRequest()
                        .access((who, asked) -> new AuthorizationDecision(
                                free.include(asked.getRequest()) || trust.isAuthenticated(who.get()))))
                .exceptionHandling(handling -> handling.authenticationEntryPoint(
                        (request, response, e) -> refuse(refusing, request, response, "that needs the token.")))
                // Nothing is remembered between two requests, and no cookie speaks for anybody.
                .sessionManagement(sessions -> sessions.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
                .requestCache(AbstractHttpConfigurer::disable)
                .logout(AbstractHttpConfigurer::disable)
                .csrf(AbstractHttpConfigurer::disable)
                .build();
    }

    private static boolean isAnswered(HttpServletRequest request) {
        return request.getDispatcherType() == DispatcherType.ASYNC
                && WebAsyncUtils.getAsyncManager(request).hasConcurrentResult();
    }

    private static void refuse(Refusing refusing, HttpServletRequest request, HttpServletResponse response, String why)
            throws IOException {
        refusing.answer(response, Refusing.Cause.CREDENTIALS, request.getRemoteAddr(), why + WAY_OUT);
    }

    @Bean
    FilterRegistrationBean<WholeBodies> wholeBodies(Refusing refusing) {
        FilterRegistrationBean<WholeBodies> registration = new FilterRegistrationBean<>(new WholeBodies(refusing));
        registration.setDispatcherTypes(DispatcherType.REQUEST, DispatcherType.ASYNC);
        registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
        return registration;
    }

    /** The rest of a body that is too large isn't waited for. */
    @Bean
    WebServerFactoryCustomizer<TomcatServletWebServerFactory> noSwallowing() {
        return factory -> factory.addContextCustomizers(context -> context.setSwallowAbortedUploads(false));
    }

    /** Where somebody has endpoints show values of the configuration, these are not among them. */
    @Bean
    SanitizingFunction secrets() {
        return SanitizingFunction.sanitizeValue().ifLikelySensitive();
    }
}
