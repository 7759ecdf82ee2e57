// The forms of a command line, every kind of value, and the sentence for every mistake.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allFlags, flagGroups } from './flag-table.js'
import { renderHelp } from './help.js'
import { parseFlags } from './parse-flags.js'

for (const row of [
  { name: 'defaults', argv: [], flag: 'secure-port', value: 6443 },
  { name: 'no default', argv: [], flag: 'client-ca-file', value: undefined },
  { name: 'list without a default', argv: [], flag: 'runtime-config', value: [] },
  { name: '--flag=value', argv: ['--secure-port=0'], flag: 'secure-port', value: 0 },
  { name: '--flag value', argv: ['--secure-port', '8443'], flag: 'secure-port', value: 8443 },
  { name: 'a value with =', argv: ['--runtime-config=api/all=true'], flag: 'runtime-config', value: ['api/all=true'] },
  { name: 'underscores', argv: ['--secure_port=1'], flag: 'secure-port', value: 1 },
  { name: 'the last one counts', argv: ['--secure-port=1', '--secure-port=2'], flag: 'secure-port', value: 2 },
  { name: 'boolean alone', argv: ['--allow-privileged'], flag: 'allow-privileged', value: true },
  { name: 'boolean off', argv: ['--anonymous-auth=false'], flag: 'anonymous-auth', value: false },
  { name: 'boolean before another flag', argv: ['--allow-privileged', '--secure-port=1'], flag: 'allow-privileged', value: true },
  {
    name: 'a list that adds up',
    argv: ['--oidc-required-claim=a=1', '--oidc-required-claim=b=2'],
    flag: 'oidc-required-claim',
    value: ['a=1', 'b=2'],
  },
  { name: 'a comma list', argv: ['--authorization-mode=Node, RBAC,'], flag: 'authorization-mode', value: ['Node', 'RBAC'] },
  { name: 'a given list replaces the default', argv: ['--oidc-signing-algs=ES256'], flag: 'oidc-signing-algs', value: ['ES256'] },
  {
    name: 'files add up',
    argv: ['--service-account-key-file=a,b', '--service-account-key-file', 'c'],
    flag: 'service-account-key-file',
    value: ['a,b', 'c'],
  },
  { name: 'duration', argv: ['--request-timeout=1h2m3.5s'], flag: 'request-timeout', value: 3_723_500 },
  { name: 'duration of milliseconds', argv: ['--request-timeout=300ms'], flag: 'request-timeout', value: 300 },
  { name: 'duration of nothing', argv: ['--shutdown-delay-duration=0'], flag: 'shutdown-delay-duration', value: 0 },
  { name: 'bytes', argv: ['--read-cache-bytes=64MiB'], flag: 'read-cache-bytes', value: 67_108_864 },
  { name: 'bytes, bare', argv: ['--read-cache-bytes=1000'], flag: 'read-cache-bytes', value: 1000 },
  { name: 'bytes, decimal', argv: ['--read-cache-bytes=1.5GB'], flag: 'read-cache-bytes', value: 1_500_000_000 },
  { name: 'number', argv: ['--goaway-chance=.001'], flag: 'goaway-chance', value: 0.001 },
  { name: 'address', argv: ['--bind-address=::'], flag: 'bind-address', value: '::' },
  { name: 'choice', argv: ['--storage-backend=memory'], flag: 'storage-backend', value: 'memory' },
  { name: 'short verbosity', argv: ['-v', '4'], flag: 'v', value: 4 },
  { name: 'short verbosity with =', argv: ['-v=4'], flag: 'v', value: 4 },
  { name: 'short help', argv: ['-h'], flag: 'help', value: true },
]) {
  test(`flags: ${row.name}`, () => {
    const values: { readonly [name: string]: unknown } = parseFlags(row.argv).values
    assert.deepEqual(values[row.flag], row.value)
  })
}

for (const row of [
  { argv: ['--secure-port=abc'], problem: '--secure-port: "abc" is not a port (0–65535)' },
  { argv: ['--secure-port=65536'], problem: '--secure-port: "65536" is not a port (0–65535)' },
  { argv: ['--secure-port=-1'], problem: '--secure-port: "-1" is not a port (0–65535)' },
  { argv: ['--secure-port='], problem: '--secure-port: "" is not a port (0–65535)' },
  { argv: ['--secure-port'], problem: '--secure-port: the value is missing' },
  { argv: ['--secure-prt=1'], problem: '--secure-prt: unknown flag; did you mean --secure-port?' },
  { argv: ['--nothing-like-any-other'], problem: '--nothing-like-any-other: unknown flag; --help lists all of them' },
  { argv: ['serve'], problem: 'unexpected argument "serve"' },
  { argv: ['--anonymous-auth', 'false'], problem: 'unexpected argument "false"; a boolean is written --flag=false' },
  { argv: ['--'], problem: 'unexpected argument "--"' },
  { argv: ['--anonymous-auth=maybe'], problem: '--anonymous-auth: "maybe" is neither true nor false' },
  { argv: ['--bind-address=localhost'], problem: '--bind-address: "localhost" is not an IP address' },
  { argv: ['--request-timeout=60'], problem: '--request-timeout: "60" is not a duration such as 90s, 5m or 1h30m' },
  { argv: ['--request-timeout=-5s'], problem: '--request-timeout: "-5s" is negative' },
  { argv: ['--read-cache-bytes=much'], problem: '--read-cache-bytes: "much" is not a number of bytes such as 1000000, 256MiB or 1GB' },
  { argv: ['--max-requests-inflight=1.5'], problem: '--max-requests-inflight: "1.5" is not a whole number' },
  { argv: ['--max-requests-inflight=-1'], problem: '--max-requests-inflight: -1 is less than 0' },
  { argv: ['--goaway-chance=0.5'], problem: '--goaway-chance: 0.5 is more than 0.02' },
  { argv: ['--identity=brand'], problem: '--identity: "brand" is unknown; choose from cluster, kubernetes' },
  {
    argv: ['--authorization-mode=RBAC,Rbc'],
    problem: '--authorization-mode: "Rbc" is unknown; choose from AlwaysAllow, AlwaysDeny, ABAC, Webhook, RBAC, Node',
  },
  {
    argv: ['--enable-admission-plugins=LimitRangr'],
    problem: '--enable-admission-plugins: "LimitRangr" is unknown; did you mean LimitRanger?',
  },
  { argv: ['--enable-admission-plugins=Xyz'], problem: '--enable-admission-plugins: "Xyz" is unknown' },
  { argv: ['--client-ca-file='], problem: '--client-ca-file: the name of a file is missing' },
  {
    argv: ['--etcd-servers-overrides=/events#http://127.0.0.1:2379'],
    problem:
      '--etcd-servers-overrides: all resources are kept in one etcd; leave this flag out, and give its addresses with --etcd-servers',
  },
]) {
  test(`flags refused: ${row.argv.join(' ')}`, () => assert.throws(() => parseFlags(row.argv), { name: 'FlagError', message: row.problem }))
}

test('the table: names are unique, defaults are values of their kind', () => {
  assert.equal(new Set(allFlags.map((flag) => flag.name)).size, allFlags.length)
  assert.doesNotThrow(() => parseFlags([]))
})

test('help names every flag and fits 100 columns', () => {
  const help = renderHelp(flagGroups)
  for (const flag of allFlags) assert.ok(help.includes(`--${flag.name}`), flag.name)
  for (const line of help.split('\n')) assert.ok(line.length <= 100, line)
  assert.match(help, /^ {2}--secure-port <port> +port for TLS; 0 for any free one \(default 6443\)$/m)
  assert.match(help, /^ {2}--egress-selector-config-file <file> +how /m)
})
