// Flags: syntax, kinds of values, error messages, the table of flags, and the text of --help.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allFlags, flagGroups } from './flag-table.js'
import { renderHelp } from './help.js'
import { parseFlags } from './parse-flags.js'

const parsed: readonly (readonly [flags: string, name: string, value: unknown])[] = [
  ['', 'secure-port', 6443],
  ['', 'client-ca-file', undefined],
  ['', 'runtime-config', []],
  ['--secure-port=0', 'secure-port', 0],
  ['--secure-port 8443', 'secure-port', 8443],
  ['--runtime-config=api/all=true', 'runtime-config', ['api/all=true']],
  ['--secure_port=1', 'secure-port', 1],
  ['--secure-port=1 --secure-port=2', 'secure-port', 2],
  ['--allow-privileged', 'allow-privileged', true],
  ['--anonymous-auth=false', 'anonymous-auth', false],
  ['--allow-privileged --secure-port=1', 'allow-privileged', true],
  ['--oidc-required-claim=a=1 --oidc-required-claim=b=2', 'oidc-required-claim', ['a=1', 'b=2']],
  ['--authorization-mode=Node,,RBAC,', 'authorization-mode', ['Node', 'RBAC']],
  ['--oidc-signing-algs=ES256', 'oidc-signing-algs', ['ES256']],
  ['--service-account-key-file=a,b --service-account-key-file c', 'service-account-key-file', ['a,b', 'c']],
  ['--request-timeout=1h2m3.5s', 'request-timeout', 3_723_500],
  ['--request-timeout=300ms', 'request-timeout', 300],
  ['--shutdown-delay-duration=0', 'shutdown-delay-duration', 0],
  ['--read-cache-bytes=64MiB', 'read-cache-bytes', 67_108_864],
  ['--read-cache-bytes=1000', 'read-cache-bytes', 1000],
  ['--read-cache-bytes=1.5GB', 'read-cache-bytes', 1_500_000_000],
  ['--goaway-chance=.001', 'goaway-chance', 0.001],
  ['--bind-address=::', 'bind-address', '::'],
  ['--storage-backend=memory', 'storage-backend', 'memory'],
  ['-v 4', 'v', 4],
  ['-v=4', 'v', 4],
  ['-h', 'help', true],
  [' --secure-port=1 ', 'secure-port', 1],
  ['--insecure-port=0', 'insecure-port', 0],
]
for (const [flags, name, value] of parsed)
  test(`flags: ${flags} gives ${name}`, () => {
    const values: { readonly [name: string]: unknown } = parseFlags(flags.split(' ')).values
    assert.deepEqual(values[name], value)
  })

for (const [flags, message] of [
  ['--secure-port=abc', '--secure-port: "abc" is not a port (0–65535)'],
  ['--secure-port=65536', '--secure-port: "65536" is not a port (0–65535)'],
  ['--secure-port=-1', '--secure-port: "-1" is not a port (0–65535)'],
  ['--secure-port=', '--secure-port: "" is not a port (0–65535)'],
  ['--secure-port', '--secure-port: a value is missing'],
  ['--secure-prt=1', '--secure-prt: unknown flag; did you mean --secure-port?'],
  ['--nothing-like-any-other', '--nothing-like-any-other: unknown flag; --help lists all of them'],
  ['serve', 'unexpected argument "serve"'],
  ['--anonymous-auth false', 'unexpected argument "false"; a boolean is written --flag=false'],
  ['--', 'unexpected argument "--"'],
  ['--anonymous-auth=maybe', '--anonymous-auth: "maybe" is neither true nor false'],
  ['--bind-address=localhost', '--bind-address: "localhost" is not an IP address'],
  ['--request-timeout=60', '--request-timeout: "60" is not a duration such as 90s, 5m or 1h30m'],
  ['--request-timeout=-5s', '--request-timeout: "-5s" is negative'],
  ['--read-cache-bytes=much', '--read-cache-bytes: "much" is not a number of bytes such as 1000000, 256MiB or 1GB'],
  ['--max-requests-inflight=1.5', '--max-requests-inflight: "1.5" is not a whole number'],
  ['--max-requests-inflight=-1', '--max-requests-inflight: -1 is less than 0'],
  ['--goaway-chance=0.5', '--goaway-chance: 0.5 is more than 0.02'],
  ['--identity=brand', '--identity: "brand" is unknown; choose from cluster, kubernetes'],
  [
    '--authorization-mode=RBAC,Rbc',
    '--authorization-mode: "Rbc" is unknown; choose from AlwaysAllow, AlwaysDeny, ABAC, Webhook, RBAC, Node',
  ],
  ['--enable-admission-plugins=LimitRangr', '--enable-admission-plugins: "LimitRangr" is unknown; did you mean LimitRanger?'],
  ['--enable-admission-plugins=Xyz', '--enable-admission-plugins: "Xyz" is unknown'],
  ['--insecure-port=8080', '--insecure-port: there is no port without TLS; remove the flag and use --secure-port'],
  ['--client-ca-file=', '--client-ca-file: the name of a file is missing'],
  [
    '--etcd-servers-overrides=/events#http://127.0.0.1:2379',
    '--etcd-servers-overrides: all resources are stored in one etcd; remove the flag and use --etcd-servers',
  ],
] as const)
  test(`rejected: ${flags}`, () => assert.throws(() => parseFlags(flags.split(' ')), { name: 'FlagError', message }))

test('the flag table: names are unique, defaults are valid', () => {
  assert.equal(new Set(allFlags.map((flag) => flag.name)).size, allFlags.length)
  assert.doesNotThrow(() => parseFlags([]))
})

test('help names every flag and fits 100 columns', () => {
  const help = renderHelp(flagGroups)
  for (const flag of allFlags) assert.ok(help.includes(`--${flag.name}`), flag.name)
  for (const line of help.split('\n')) assert.ok(line.length <= 100, line)
  assert.match(help, /^ {2}--secure-port <port> +HTTPS port; 0 for any free one \(default 6443\)$/m)
  // envtest passes this flag if a line of the help starts with it; the mark `*` before it prevents that.
  assert.doesNotMatch(help, /^\s*--insecure-port\b/m)
  assert.match(help, /^ {2}--egress-selector-config-file <file> +EgressSelectorConfiguration: /m)
})
