// Every flag of kube-apiserver exists and has the same default, except for the listed ones; flags without effect are logged at the start.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type ReferenceFlag, referenceFlags } from '../../../test/kit/reference-flags.js'
import { runInProcess } from '../../../test/kit/run-command.js'
import { newFolder, runCommand, ServerProcess } from '../../../test/kit/server-process.js'

interface HelpFlag {
  readonly isWithoutEffect: boolean
  readonly help: string
  readonly default: string
}

/** Help texts by flag. */
async function readHelp(): Promise<ReadonlyMap<string, HelpFlag>> {
  const { stdout } = await runCommand(['--help'])
  const flags = new Map<string, HelpFlag>()
  const lines = stdout.replace(/\n {30,}/g, ' ').split('\n')
  for (const line of lines) {
    const [, marker, name, help = ''] = /^([* ]) --([\w-]+)(.*)$/.exec(line) ?? []
    if (name === undefined) continue
    flags.set(name, { isWithoutEffect: marker === '*', help, default: /\(default ([^)]*)\)/.exec(help)?.[1] ?? '' })
  }
  return flags
}

const help = readHelp()

/** Defaults that differ on purpose. */
const otherDefaults = new Set([
  // deletecollection does not block the event loop, so it has more workers.
  'delete-collection-workers',
  // Storage engine and format are specific to this server.
  'storage-backend',
  'storage-media-type',
  'cert-dir',
  // Safe defaults: listens on loopback only, and authorizes with RBAC.
  'bind-address',
  'authorization-mode',
  'service-cluster-ip-range',
  'logging-format',
  // Explicit here; kube-apiserver uses the default of its libraries.
  'http2-max-streams-per-connection',
  'tls-min-version',
  // An API version, whose group depends on --identity: cluster.io or k8s.io.
  'audit-log-version',
  'audit-webhook-version',
])

/** Normalizes durations, lists and zero values. */
const normalize = (text = ''): string =>
  text
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/(?<=[hm])0[ms]/g, '')
    .replace(/^0s?$|^false$|^""$/, '')

test('every flag of kube-apiserver exists and has its default', async () => {
  const helpFlags = await help
  for (const { name, default: value } of referenceFlags) {
    const flag = helpFlags.get(name)
    assert.ok(flag, `--${name} is not in --help`)
    if (!flag.isWithoutEffect && !otherDefaults.has(name) && !flag.help.includes(' rejected: '))
      assert.equal(normalize(flag.default), normalize(value), `--${name}`)
  }
})

test('rejected flags give the reason that --help gives', async () => {
  const refused = [...(await help)].filter(([, flag]) => flag.help.includes(' rejected: ')).map(([name]) => name)
  assert.deepEqual(refused.sort(), ['admission-control', 'cloud-config', 'cloud-provider', 'etcd-servers-overrides'])
  for (const name of refused) {
    const { code, stderr } = await runInProcess([`--${name}=1`, '--secure-port=0', `--data-dir=${newFolder()}`])
    assert.equal(code, 2, name)
    assert.match(stderr, new RegExp(`--${name}: \\w`))
  }
})

/** Values for flags without a usable default. */
const samples = (folder: string): { readonly [name: string]: string } => ({
  'advertise-address': '192.0.2.1',
  'allow-metric-labels': 'apiserver_request_total,verb=GET',

  'cors-allowed-origins': 'example[.]com',
  'disabled-metrics': 'apiserver_response_sizes',
  'encryption-provider-config': join(folder, 'encryption.yaml'),
  'external-hostname': 'api.example.com',
  'feature-gates': 'APIServerTracing=true',
  'goaway-chance': '0.01',
  'show-hidden-metrics-for-version': '1.25',
  'storage-backend': 'memory',
  'storage-media-type': 'application/json',
  'strict-transport-security-directives': 'max-age=31536000',
  'tracing-config-file': join(folder, 'tracing.yaml'),
  'watch-cache-sizes': 'configmaps#100',
  'logging-format': 'json',
  'bind-address': '127.0.0.1',
  'secure-port': '0',
  'authorization-mode': 'RBAC',
  'service-cluster-ip-range': '10.1.0.0/24',
})

/** Flags that end the process, belong to etcd, or need files of other programs. */
const excludedFlags = /^(?:help|version|etcd-(?:cafile|certfile|keyfile|servers|prefix)|lease-reuse-duration-seconds|secure-port|cert-dir)$/

/** Starts the server; drops a flag whose error names another flag that it requires. */
async function startWith(accepted: ReferenceFlag[], write: (flag: ReferenceFlag) => string): Promise<ServerProcess> {
  for (;;) {
    try {
      return await ServerProcess.start({ flags: accepted.map(write) })
    } catch (error) {
      const [, dependent] = /: --([\w-]+): needs --[\w-]+$/m.exec(String(error)) ?? []
      const at = accepted.findIndex(({ name }) => name === dependent)
      if (at < 0) throw error
      accepted.splice(at, 1)
    }
  }
}

test('a start with all accepted flags lists those without effect, and serves', async () => {
  const helpFlags = await help
  const folder = newFolder()
  const values = samples(folder)
  writeFileSync(
    join(folder, 'encryption.yaml'),
    'kind: EncryptionConfiguration\napiVersion: apiserver.config.cluster.io/v1\nresources:\n- resources: [secrets]\n  providers: [{identity: {}}]\n',
  )
  writeFileSync(join(folder, 'tracing.yaml'), 'kind: TracingConfiguration\napiVersion: apiserver.config.cluster.io/v1alpha1\n')
  const valueFor = ({ name, default: value }: ReferenceFlag): string | undefined =>
    values[name] ??
    (normalize(value) === ''
      ? undefined
      : (helpFlags.get(name)?.default || value)?.replace(/^\[(.*)\]$/, '$1').replace('k8s.io', 'cluster.io'))
  const accepted = referenceFlags.filter((flag) => {
    const { help: helpText = '' } = helpFlags.get(flag.name) ?? {}
    return !excludedFlags.test(flag.name) && !helpText.includes(' rejected: ') && valueFor(flag) !== undefined
  })
  assert.ok(accepted.length > 60, String(accepted.length))
  const server = await startWith(accepted, (flag) => `--${flag.name}=${valueFor(flag)}`)
  try {
    const named = /flags without effect: (.*)/.exec(server.stderr)?.[1]?.split(', ') ?? []
    const expected = accepted.filter(({ name }) => helpFlags.get(name)?.isWithoutEffect).map(({ name }) => `--${name}`)
    assert.deepEqual([...named].sort(), expected.sort(), server.stderr)
    assert.equal((await server.client.get('/readyz')).status, 200)
  } finally {
    await server.stop()
  }
})
