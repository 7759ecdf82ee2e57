// Every flag of the reference, given to the command: it is known, has its default or another one for a reason, and the server says what it makes of it.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type ReferenceFlag, referenceFlags } from './kit/reference-flags.js'
import { runInside } from './kit/run-inside.js'
import { newFolder, runCommand, ServerProcess } from './kit/server-process.js'

interface OwnFlag {
  readonly isWithoutEffect: boolean
  readonly help: string
  readonly default: string
}

/** What `--help` says, by flag. */
async function readHelp(): Promise<ReadonlyMap<string, OwnFlag>> {
  const { stdout } = await runCommand(['--help'])
  const flags = new Map<string, OwnFlag>()
  const lines = stdout.replace(/\n {30,}/g, ' ').split('\n')
  for (const line of lines) {
    const [, mark, name, help = ''] = /^([* ]) --([\w-]+)(.*)$/.exec(line) ?? []
    if (name === undefined) continue
    flags.set(name, { isWithoutEffect: mark === '*', help, default: /\(default ([^)]*)\)/.exec(help)?.[1] ?? '' })
  }
  return flags
}

const help = readHelp()

/** Defaults that are others on purpose. */
const otherDefaults = new Set([
  // Deleting a collection does not hold up others, so it need not go one by one.
  'delete-collection-workers',
  // What is stored, and in which form, is this server's own matter.
  'storage-backend',
  'storage-media-type',
  'cert-dir',
  // A server that was just tried out is not to be reached from elsewhere, and does not let everybody do everything.
  'bind-address',
  'authorization-mode',
  'service-cluster-ip-range',
  'logging-format',
  // Said, where the reference leaves it to its libraries.
  'http2-max-streams-per-connection',
  'tls-min-version',
  // As the identity has it.
  'audit-log-version',
  'audit-webhook-version',
])

/** Durations in one spelling, lists without brackets, nothing for zero. */
const plain = (text = ''): string =>
  text
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/(?<=[hm])0[ms]/g, '')
    .replace(/^0s?$|^false$|^""$/, '')

test('each flag of the reference is known, and has its default', async () => {
  const own = await help
  for (const { name, default: value } of referenceFlags) {
    const flag = own.get(name)
    assert.ok(flag, `--${name} is not in --help`)
    if (!flag.isWithoutEffect && !otherDefaults.has(name) && !flag.help.includes(' refused: '))
      assert.equal(plain(flag.default), plain(value), `--${name}`)
  }
})

test('what is refused is refused with the reason that --help gives', async () => {
  const refused = [...(await help)].filter(([, flag]) => flag.help.includes(' refused: ')).map(([name]) => name)
  assert.deepEqual(refused.sort(), [
    'admission-control',
    'cloud-config',
    'cloud-provider',
    'etcd-servers-overrides',
    'kubernetes-service-node-port',
    'vmodule',
  ])
  for (const name of refused) {
    const { code, stderr } = await runInside([`--${name}=1`, '--secure-port=0', `--data-dir=${newFolder()}`])
    assert.equal(code, 1, name)
    assert.match(stderr, new RegExp(`--${name}: \\w`))
  }
})

/** Values for flags that have no default, or whose default says nothing. */
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

/** Flags that are not for every start: they end it, belong to etcd, or need files that others must have made. */
const apart = /^(?:help|version|etcd-(?:cafile|certfile|keyfile|servers|prefix)|lease-reuse-duration-seconds|secure-port|cert-dir)$/

/** Starts the server; a flag that says which other one it needs, and it is not here, has said all it can say, and is left out. */
async function startWith(given: ReferenceFlag[], write: (flag: ReferenceFlag) => string): Promise<ServerProcess> {
  for (;;) {
    try {
      return await ServerProcess.start({ flags: given.map(write) })
    } catch (error) {
      const [, needy] = /: --([\w-]+): needs --[\w-]+, too/.exec(String(error)) ?? []
      const at = given.findIndex(({ name }) => name === needy)
      if (at < 0) throw error
      given.splice(at, 1)
    }
  }
}

test('a start with every flag that is not refused says which of them have no effect, and serves', async () => {
  const own = await help
  const folder = newFolder()
  const values = samples(folder)
  writeFileSync(
    join(folder, 'encryption.yaml'),
    'kind: EncryptionConfiguration\napiVersion: apiserver.config.cluster.io/v1\nresources:\n- resources: [secrets]\n  providers: [{identity: {}}]\n',
  )
  writeFileSync(join(folder, 'tracing.yaml'), 'kind: TracingConfiguration\napiVersion: apiserver.config.cluster.io/v1alpha1\n')
  const chosen = ({ name, default: value }: ReferenceFlag): string | undefined =>
    values[name] ??
    (plain(value) === '' ? undefined : (own.get(name)?.default || value)?.replace(/^\[(.*)\]$/, '$1').replace('k8s.io', 'cluster.io'))
  const given = referenceFlags.filter((flag) => {
    const { help: words = '' } = own.get(flag.name) ?? {}
    return !apart.test(flag.name) && !words.includes(' refused: ') && chosen(flag) !== undefined
  })
  assert.ok(given.length > 60, String(given.length))
  const server = await startWith(given, (flag) => `--${flag.name}=${chosen(flag)}`)
  try {
    const named = /but without effect: (.*)/.exec(server.stderr)?.[1]?.split(', ') ?? []
    const expected = given.filter(({ name }) => own.get(name)?.isWithoutEffect).map(({ name }) => `--${name}`)
    assert.deepEqual([...named].sort(), expected.sort(), server.stderr)
    assert.equal((await server.client.get('/readyz')).status, 200)
  } finally {
    await server.stop()
  }
})
