// Runs the same scenarios through every client; the results must be equal.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { getOrInsert } from '../../packages/api/src/base/recent-map.js'
import { ClusterctlProcesses } from '../../packages/cli/test/clusterctl-processes.js'
import { repoRoot } from '../kit/paths.js'
import { Kubectl } from './kubectl.js'
import type { Obtained } from './obtain.js'
import { obtainClientNode } from './obtain-client-node.js'
import { obtainKubectl } from './obtain-kubectl.js'
import { obtainPython } from './obtain-python.js'
import { ClientNodeRunner } from './scenarios/client-node-runner.js'
import { KubectlRunner } from './scenarios/kubectl-runner.js'
import { OurClientRunner } from './scenarios/our-client-runner.js'
import { PythonProcess, PythonRunner } from './scenarios/python-runner.js'
import { comparable, type Scenario, type ScenarioRunner, type Setup } from './scenarios/scenario.js'
import { ScenarioServers } from './scenarios/scenario-servers.js'
import { scenarios } from './scenarios/scenarios.js'

const [kubectl, clientNode, python] = await Promise.all([obtainKubectl(), obtainClientNode(), obtainPython()])

const commands = new ClusterctlProcesses()
let pythonProcess: PythonProcess | undefined

interface OtherClient {
  readonly name: string
  readonly obtained: Obtained
  open(path: string, configuration: string, home: string): Promise<ScenarioRunner>
}

const otherClients: readonly OtherClient[] = [
  {
    name: 'kubectl',
    obtained: kubectl,
    open: async (command, clientConfiguration, home) => new KubectlRunner(new Kubectl({ command, clientConfiguration, home, minor: 20 })),
  },
  {
    name: 'clusterctl',
    obtained: { path: join(repoRoot, 'bin', 'clusterctl'), skip: false },
    open: async (command, clientConfiguration, home) =>
      new KubectlRunner(new Kubectl({ command, clientConfiguration, home, minor: 26, perform: commands.perform })),
  },
  {
    name: 'python3-kubernetes',
    obtained: python,
    open: async (path, configuration) => {
      pythonProcess ??= new PythonProcess(path)
      return new PythonRunner(pythonProcess, configuration)
    },
  },
  { name: '@kubernetes/client-node', obtained: clientNode, open: (path, configuration) => ClientNodeRunner.open(path, configuration) },
]

/** Input of an exec credential plugin. */
interface ExecInfo {
  readonly kind: string
  readonly apiVersion: string
  readonly spec: {
    readonly cluster?: { readonly server: string; readonly 'certificate-authority-data': string }
    readonly interactive?: boolean
  }
}

describe('client scenarios', () => {
  let servers: ScenarioServers
  const expectedResults = new Map<string, readonly unknown[]>()
  /** Runs scenarios through one client, one runner per kubeconfig. */
  class ClientRuns {
    readonly #open: (configuration: string) => Promise<ScenarioRunner>
    readonly #runners = new Map<Setup, Promise<ScenarioRunner>>()

    constructor(open: (configuration: string) => Promise<ScenarioRunner>) {
      this.#open = open
    }

    async perform({ setup = 'admin', steps }: Scenario): Promise<readonly unknown[]> {
      const runner = await getOrInsert(this.#runners, setup, () => this.#open(servers.configuration(setup)))
      const namespace = await servers.newNamespace(setup)
      const results: unknown[] = []
      for (const step of steps) results.push(comparable(await runner.perform(step, namespace)))
      return results
    }

    async close(): Promise<void> {
      for (const runner of this.#runners.values()) await (await runner).close()
    }
  }
  const ours = new ClientRuns(async (configuration) => new OurClientRunner(configuration))

  before(async () => {
    servers = await ScenarioServers.open()
    for (const scenario of scenarios) expectedResults.set(scenario.title, await ours.perform(scenario))
  })
  after(async () => {
    await ours.close()
    await servers.close()
  })

  test('our client: expected results', () => {
    const reasonsOf = (title: string): readonly string[] =>
      (expectedResults.get(title) ?? []).map((result) => (result as { refused?: string }).refused ?? 'ok')
    assert.deepEqual(reasonsOf('CRUD'), [
      ...['NotFound', 'ok', 'AlreadyExists', 'ok', 'ok', 'Conflict', 'ok', 'ok', 'NotFound', 'NotFound'],
    ])
    assert.deepEqual(reasonsOf('subresources'), ['ok', 'ok', 'NotFound', 'ok', 'Invalid', 'ok', 'ok', 'ok'])
    const copied = expectedResults.get('subresources')?.[6] as { readonly object: Record<'spec' | 'status', { replicas: number }> }
    assert.deepEqual([copied.object.spec.replicas, copied.object.status.replicas], [4, 2])
    assert.deepEqual(expectedResults.get('pages, dry run, delete collection')?.slice(5, 9), [
      { names: ['a', 'b', 'c', 'd', 'e'] },
      { names: ['b'] },
      { names: ['a', 'c', 'd', 'e'] },
      { refused: 'BadRequest' },
    ])
    assert.deepEqual(reasonsOf('pages, dry run, delete collection').slice(9, 13), ['ok', 'AlreadyExists', 'NotFound', 'ok'])
    assert.deepEqual(expectedResults.get('pages, dry run, delete collection')?.at(-1), { names: ['d', 'e'] })
    assert.deepEqual(reasonsOf('finalizers'), ['ok', 'ok', 'ok', 'Invalid', 'ok', 'ok', 'NotFound'])
    assert.deepEqual(reasonsOf('impersonation'), ['ok', 'Forbidden', 'ok', 'ok', 'Forbidden', 'Forbidden'])
    assert.deepEqual(expectedResults.get('watch')?.at(-1), { events: ['ADDED one', 'MODIFIED one', 'DELETED before', 'DELETED one'] })
    assert.deepEqual(expectedResults.get('bookmarks'), [{ events: ['ADDED one', 'BOOKMARK ', 'ADDED two', 'DELETED one'] }])
    assert.deepEqual(expectedResults.get('expired resourceVersion (410)'), [{ refused: 'Expired' }])
    assert.deepEqual(expectedResults.get('tables')?.slice(-2), [
      {
        table: [
          ['NAME', 'READY', 'UP-TO-DATE', 'AVAILABLE', 'AGE', 'CONTAINERS', 'IMAGES', 'SELECTOR'],
          ['api', '0/1', '0', '0', 'age', 'web', 'registry.example/api:7', 'app=api'],
        ],
      },
      {
        table: [
          ['NAME', 'DATA', 'AGE'],
          ['one', '2', 'age'],
        ],
      },
    ])
    for (const setup of ['token', 'certificate'])
      assert.deepEqual(reasonsOf(`exec plugin: ${setup}`), ['ok', 'ok', 'NotFound', 'ok', 'Forbidden'])
    assert.deepEqual(reasonsOf('exec plugin: refused token'), ['Unauthorized'])
    const count = [...expectedResults.values()].flat().length
    assert.ok(count >= 80, `${count} steps`)
  })

  /** Pairs of client and scenario with equal results. */
  const equalResults = new Set<string>()

  for (const { name, obtained, open } of otherClients) {
    describe(`through ${name}`, { skip: obtained.skip }, () => {
      const runs = new ClientRuns((configuration) => open(obtained.path, configuration, servers.folder))
      after(() => runs.close())
      for (const scenario of scenarios) {
        test(scenario.title, async () => {
          assert.deepEqual(await runs.perform(scenario), expectedResults.get(scenario.title))
          equalResults.add(`${name} ${scenario.title}`)
        })
      }
    })
  }

  test('all clients pass the same ExecCredential to the plugin', () => {
    const inputs = servers.runs('token of a plugin').filter((line) => line !== '')
    const infos = inputs.map((line) => JSON.parse(line) as ExecInfo)
    assert.ok(infos.length > 1, 'our client and clusterctl always do')
    assert.deepEqual(
      [...new Set(infos.map(({ kind, apiVersion }) => `${kind} ${apiVersion}`))],
      ['ExecCredential client.authentication.k8s.io/v1beta1'],
    )
    const clusters = infos.flatMap(({ spec: { cluster } }) => (cluster === undefined ? [] : [cluster]))
    const [first] = clusters
    for (const { server, 'certificate-authority-data': authority } of clusters)
      assert.deepEqual({ server, authority }, { server: first?.server, authority: first?.['certificate-authority-data'] })
    assert.match(Buffer.from(first?.['certificate-authority-data'] ?? '', 'base64').toString(), /BEGIN CERTIFICATE/)
    // Older clients do not set `interactive`.
    assert.deepEqual([...new Set(infos.map(({ spec }) => spec.interactive ?? false))], [false])
  })

  test('docs/compatibility.md shows the results; UPDATE_DOCS=1 writes them', () => {
    const file = join(repoRoot, 'docs', 'compatibility.md')
    const text = readFileSync(file, 'utf8')
    const cellOf = ({ name }: OtherClient, { title }: Scenario): string => (equalResults.has(`${name} ${title}`) ? 'same' : 'differs')
    const clientsSection = /(<!-- clients -->\n)([\s\S]*?)(<!-- \/clients -->)/
    if (process.env['UPDATE_DOCS'] === '1') {
      const head = `| scenario | ${otherClients.map(({ name }) => name).join(' | ')} |\n|${'---|'.repeat(otherClients.length + 1)}\n`
      const rows = scenarios.map(
        (scenario) => `| ${scenario.title} | ${otherClients.map((other) => cellOf(other, scenario)).join(' | ')} |\n`,
      )
      writeFileSync(
        file,
        text.replace(clientsSection, (_, begin: string, _old: string, end: string) => `${begin}${head}${rows.join('')}${end}`),
      )
      return
    }
    const written = (clientsSection.exec(text)?.[2] ?? '').split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
    for (const scenario of scenarios) {
      const cells = written.find(([, title]) => title === scenario.title)
      for (const [index, other] of otherClients.entries())
        if (other.obtained.skip === false)
          assert.equal(cells?.[index + 2], cellOf(other, scenario), `${scenario.title}, ${other.name}: run with UPDATE_DOCS=1`)
    }
  })
})
