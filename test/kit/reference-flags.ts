// Flags of kube-apiserver 1.26: names, value types and defaults.

export interface ReferenceFlag {
  readonly name: string
  readonly value: string
  readonly default?: string
}

/** One per line: name, value type (`-` for a switch), default. */
const table = `
advertise-address ip
cors-allowed-origins strings
default-not-ready-toleration-seconds int 300
default-unreachable-toleration-seconds int 300
enable-priority-and-fairness bool true
external-hostname string
feature-gates mapStringBool
goaway-chance float
livez-grace-period duration
max-mutating-requests-inflight int 200
max-requests-inflight int 400
min-request-timeout int 1800
request-timeout duration 1m0s
shutdown-delay-duration duration
shutdown-send-retry-after bool
strict-transport-security-directives strings
delete-collection-workers int 1
enable-garbage-collector bool true
encryption-provider-config string
encryption-provider-config-automatic-reload bool
etcd-cafile string
etcd-certfile string
etcd-compaction-interval duration 5m0s
etcd-count-metric-poll-period duration 1m0s
etcd-db-metric-poll-interval duration 30s
etcd-healthcheck-timeout duration 2s
etcd-keyfile string
etcd-prefix string /registry
etcd-readycheck-timeout duration 2s
etcd-servers strings
etcd-servers-overrides strings
lease-reuse-duration-seconds int 60
storage-backend string
storage-media-type string application/vnd.kubernetes.protobuf
watch-cache bool true
watch-cache-sizes strings
bind-address ip 0.0.0.0
cert-dir string /var/run/kubernetes
http2-max-streams-per-connection int
permit-address-sharing bool
permit-port-sharing bool
secure-port int 6443
tls-cert-file string
tls-cipher-suites strings
tls-min-version string
tls-private-key-file string
tls-sni-cert-key namedCertKey []
audit-log-batch-buffer-size int 10000
audit-log-batch-max-size int 1
audit-log-batch-max-wait duration
audit-log-batch-throttle-burst int
audit-log-batch-throttle-enable bool
audit-log-batch-throttle-qps float32
audit-log-compress bool
audit-log-format string json
audit-log-maxage int
audit-log-maxbackup int
audit-log-maxsize int
audit-log-mode string blocking
audit-log-path string
audit-log-truncate-enabled bool
audit-log-truncate-max-batch-size int 10485760
audit-log-truncate-max-event-size int 102400
audit-log-version string audit.k8s.io/v1
audit-policy-file string
audit-webhook-batch-buffer-size int 10000
audit-webhook-batch-max-size int 400
audit-webhook-batch-max-wait duration 30s
audit-webhook-batch-throttle-burst int 15
audit-webhook-batch-throttle-enable bool true
audit-webhook-batch-throttle-qps float32 10
audit-webhook-config-file string
audit-webhook-initial-backoff duration 10s
audit-webhook-mode string batch
audit-webhook-truncate-enabled bool
audit-webhook-truncate-max-batch-size int 10485760
audit-webhook-truncate-max-event-size int 102400
audit-webhook-version string audit.k8s.io/v1
contention-profiling bool
profiling bool true
anonymous-auth bool true
api-audiences strings
authentication-token-webhook-cache-ttl duration 2m0s
authentication-token-webhook-config-file string
authentication-token-webhook-version string v1beta1
client-ca-file string
enable-bootstrap-token-auth bool
oidc-ca-file string
oidc-client-id string
oidc-groups-claim string
oidc-groups-prefix string
oidc-issuer-url string
oidc-required-claim mapStringString
oidc-signing-algs strings [RS256]
oidc-username-claim string sub
oidc-username-prefix string
requestheader-allowed-names strings
requestheader-client-ca-file string
requestheader-extra-headers-prefix strings
requestheader-group-headers strings
requestheader-username-headers strings
service-account-extend-token-expiration bool true
service-account-issuer stringArray
service-account-jwks-uri string
service-account-key-file stringArray
service-account-lookup bool true
service-account-max-token-expiration duration
token-auth-file string
authorization-mode strings [AlwaysAllow]
authorization-policy-file string
authorization-webhook-cache-authorized-ttl duration 5m0s
authorization-webhook-cache-unauthorized-ttl duration 30s
authorization-webhook-config-file string
authorization-webhook-version string v1beta1
cloud-config string
cloud-provider string
runtime-config mapStringString
egress-selector-config-file string
admission-control strings
admission-control-config-file string
disable-admission-plugins strings
enable-admission-plugins strings
allow-metric-labels stringToString []
disabled-metrics strings
show-hidden-metrics-for-version string
log-flush-frequency duration 5s
log-json-info-buffer-size quantity
log-json-split-stream bool
logging-format string text
v Level
vmodule pattern=N,...
tracing-config-file string
aggregator-reject-forwarding-redirect bool true
allow-privileged bool
enable-aggregator-routing bool
endpoint-reconciler-type string lease
event-ttl duration 1h0m0s
kubelet-certificate-authority string
kubelet-client-certificate string
kubelet-client-key string
kubelet-preferred-address-types strings [Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP]
kubelet-timeout duration 5s
kubernetes-service-node-port int
max-connection-bytes-per-sec int
proxy-client-cert-file string
proxy-client-key-file string
service-account-signing-key-file string
service-cluster-ip-range string
service-node-port-range portRange 30000-32767
help bool
version version[=true]
`

export const referenceFlags: readonly ReferenceFlag[] = table
  .trim()
  .split('\n')
  .map((line) => {
    const [name = '', value = '', ...rest] = line.split(' ')
    return { name, value, ...(rest.length === 0 ? {} : { default: rest.join(' ') }) }
  })
