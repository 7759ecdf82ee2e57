// Flags of authentication, authorization and certificate signing.

import type { FlagDefinition } from './flag.js'

const signingAlgorithms = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'] as const

export const authenticationFlags = [
  { name: 'anonymous-auth', kind: 'boolean', default: 'true', help: 'accept requests without credentials as the user system:anonymous' },
  { name: 'token-auth-file', kind: 'file', content: 'tokens', help: 'CSV file of static bearer tokens: token,user,uid,"group1,group2"' },
  { name: 'client-ca-file', kind: 'file', content: 'certificates', help: 'CAs of client certificates; reloaded when the file changes' },
  {
    name: 'enable-bootstrap-token-auth',
    kind: 'boolean',
    default: 'false',
    help: 'accept bootstrap tokens, which are Secrets in the system namespace',
  },
  { name: 'api-audiences', kind: 'list', help: 'accepted audiences of tokens; the issuers if unset' },
  {
    name: 'service-account-issuer',
    kind: 'list',
    help: 'issuers of service account tokens; the first one is used for new tokens, all are accepted',
  },
  { name: 'service-account-signing-key-file', kind: 'file', content: 'private-key', help: 'private key that signs service account tokens' },
  {
    name: 'service-account-key-file',
    kind: 'files',
    content: 'keys',
    help: 'keys that verify service account tokens; repeatable',
  },
  { name: 'service-account-lookup', kind: 'boolean', default: 'true', help: 'reject tokens of deleted service accounts' },
  {
    name: 'service-account-max-token-expiration',
    kind: 'duration',
    default: '0s',
    help: 'maximum lifetime of a service account token; 0 for no limit',
  },
  {
    name: 'service-account-extend-token-expiration',
    kind: 'boolean',
    default: 'true',
    help: 'extend the lifetime of projected tokens, for clients that do not renew them',
  },
  { name: 'service-account-jwks-uri', kind: 'text', help: 'URL of the JSON Web Key Set in the OpenID discovery document' },
  { name: 'oidc-issuer-url', kind: 'text', help: 'URL of the OpenID Connect issuer; https:// only' },
  { name: 'oidc-client-id', kind: 'text', help: 'client ID that tokens must be issued for' },
  { name: 'oidc-ca-file', kind: 'file', content: 'certificates', help: "CA of the issuer's certificate" },
  { name: 'oidc-username-claim', kind: 'text', default: 'sub', help: 'claim with the user name' },
  { name: 'oidc-username-prefix', kind: 'text', help: 'prefix of user names; - for none' },
  { name: 'oidc-groups-claim', kind: 'text', help: 'claim with the groups' },
  { name: 'oidc-groups-prefix', kind: 'text', help: 'prefix of group names' },
  { name: 'oidc-required-claim', kind: 'list', help: 'required claims, as claim=value; repeatable' },
  {
    name: 'oidc-signing-algs',
    kind: 'choices',
    choices: signingAlgorithms,
    default: 'RS256',
    help: 'accepted signing algorithms',
  },
  {
    name: 'authentication-token-webhook-config-file',
    kind: 'file',
    content: 'client-configuration',
    help: 'kubeconfig of the token webhook, which receives TokenReviews',
  },
  {
    name: 'authentication-token-webhook-version',
    kind: 'choice',
    choices: ['v1beta1', 'v1'],
    default: 'v1beta1',
    help: 'API version of the reviews',
  },
  { name: 'authentication-token-webhook-cache-ttl', kind: 'duration', default: '2m', help: 'how long responses are cached' },
  {
    name: 'requestheader-client-ca-file',
    kind: 'file',
    content: 'certificates',
    help: 'CAs of client certificates of authenticating proxies',
  },
  { name: 'requestheader-allowed-names', kind: 'list', help: 'accepted common names of these certificates; any if unset' },
  { name: 'requestheader-username-headers', kind: 'list', help: 'headers with the user name; the first one with a value counts' },
  { name: 'requestheader-group-headers', kind: 'list', help: 'headers with groups' },
  { name: 'requestheader-extra-headers-prefix', kind: 'list', help: 'prefixes of headers with extra attributes of the user' },
] as const satisfies readonly FlagDefinition[]

const authorizationModes = ['AlwaysAllow', 'AlwaysDeny', 'ABAC', 'Webhook', 'RBAC', 'Node'] as const

export const authorizationFlags = [
  {
    name: 'authorization-mode',
    kind: 'choices',
    choices: authorizationModes,
    default: 'Node,RBAC',
    help: 'authorizers, in order',
  },
  { name: 'authorization-policy-file', kind: 'file', content: 'json-lines', help: 'ABAC policies, one JSON object per line' },
  {
    name: 'authorization-webhook-config-file',
    kind: 'file',
    content: 'client-configuration',
    help: 'kubeconfig of the authorization webhook, which receives SubjectAccessReviews',
  },
  {
    name: 'authorization-webhook-version',
    kind: 'choice',
    choices: ['v1beta1', 'v1'],
    default: 'v1beta1',
    help: 'API version of the reviews',
  },
  { name: 'authorization-webhook-cache-authorized-ttl', kind: 'duration', default: '5m', help: 'how long allowed decisions are cached' },
  { name: 'authorization-webhook-cache-unauthorized-ttl', kind: 'duration', default: '30s', help: 'how long denied decisions are cached' },
] as const satisfies readonly FlagDefinition[]

export const signingFlags = [
  {
    name: 'cluster-signing-cert-file',
    kind: 'file',
    content: 'certificates',
    help: "CA that signs approved CertificateSigningRequests; the server's own CA if unset, unless --client-ca-file is set",
  },
  { name: 'cluster-signing-key-file', kind: 'file', content: 'private-key', help: 'private key of that CA' },
  {
    name: 'cluster-signing-cluster-apiserver-client-cert-file',
    kind: 'file',
    content: 'certificates',
    help: 'CA of the client signer; if a CA of one signer is set, only signers with a CA sign, and --cluster-signing-cert-file must be unset',
  },
  { name: 'cluster-signing-cluster-apiserver-client-key-file', kind: 'file', content: 'private-key', help: 'private key of that CA' },
  {
    name: 'cluster-signing-kubelet-client-cert-file',
    kind: 'file',
    content: 'certificates',
    help: 'CA of the signer of kubelet client certificates',
  },
  { name: 'cluster-signing-kubelet-client-key-file', kind: 'file', content: 'private-key', help: 'private key of that CA' },
  {
    name: 'cluster-signing-kubelet-serving-cert-file',
    kind: 'file',
    content: 'certificates',
    help: 'CA of the signer of kubelet serving certificates',
  },
  { name: 'cluster-signing-kubelet-serving-key-file', kind: 'file', content: 'private-key', help: 'private key of that CA' },
  { name: 'cluster-signing-duration', kind: 'duration', default: '8760h', help: 'maximum lifetime of signed certificates' },
] as const satisfies readonly FlagDefinition[]
