// The same plays through every client that there is: whoever performs them, the results are the same.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { getOrInsert } from '../../src/base/get-or-insert.js'
import { KeptCommands } from '../cli/kept-commands.js'
import { repoRoot } from '../kit/paths.js'
import { Kubectl } from './kubectl.js'
import { obtainClientNode } from './obtain-client-node.js'
import { obtainKubectl } from './obtain-kubectl.js'
import { obtainPython } from './obtain-python.js'
import type { Obtained } from './obtaining.js'
import { ClientNodePlayer } from './plays/client-node-player.js'
import { KubectlPlayer } from './plays/kubectl-player.js'
import { OurPlayer } from './plays/our-player.js'
import { comparable, type Play, type Player, type Way } from './plays/play.js'
import { plays } from './plays/plays.js'
import { PythonPlayer, PythonProcess } from './plays/python-player.js'
import { Ways } from './plays/ways.js'

const [kubectl, clientNode, python] = await Promise.all([obtainKubectl(), obtainClientNode(), obtainPython()])

const commands = new KeptCommands()
let pythonProcess: PythonProcess | undefined

interface Other {
  readonly name: string
  readonly obtained: Obtained
  open(path: string, configuration: string, home: string): Promise<Player>
}

const others: readonly Other[] = [
  {
    name: 'kubectl',
    obtained: kubectl,
    open: async (command, clientConfiguration, home) => new KubectlPlayer(new Kubectl({ command, clientConfiguration, home, minor: 20 })),
  },
  {
    name: 'clusterctl',
    obtained: { path: join(repoRoot, 'bin', 'clusterctl'), skip: false },
    open: async (command, clientConfiguration, home) =>
      new KubectlPlayer(new Kubectl({ command, clientConfiguration, home, minor: 26, perform: commands.perform })),
  },
  {
    name: 'python3-kubernetes',
    obtained: python,
    open: async (path, configuration) => {
      pythonProcess ??= new PythonProcess(path)
      return new PythonPlayer(pythonProcess, configuration)
    },
  },
  { name: '@kubernetes/client-node', obtained: clientNode, open: (path, configuration) => ClientNodePlayer.open(path, configuration) },
]

/** What a plugin is told. */
interface ExecInfo {
  readonly kind: string
  readonly apiVersion: string
  readonly spec: {
    readonly cluster?: { readonly server: string; readonly 'certificate-authority-data': string }
    readonly interactive?: boolean
  }
}

describe('plays', () => {
  let ways: Ways
  const wanted = new Map<string, readonly unknown[]>()
  /** A client with a file of client configuration. */
  class Stage {
    readonly #open: (configuration: string) => Promise<Player>
    readonly #players = new Map<Way, Promise<Player>>()

    constructor(open: (configuration: string) => Promise<Player>) {
      this.#open = open
    }

    async perform({ way = 'admin', steps }: Play): Promise<readonly unknown[]> {
      const player = await getOrInsert(this.#players, way, () => this.#open(ways.configuration(way)))
      const namespace = await ways.newNamespace(way)
      const results: unknown[] = []
      for (const step of steps) results.push(comparable(await player.perform(step, namespace)))
      return results
    }

    async close(): Promise<void> {
      for (const player of this.#players.values()) await (await player).close()
    }
  }
  const ours = new Stage(async (configuration) => new OurPlayer(configuration))

  before(async () => {
    ways = await Ways.open()
    for (const play of plays) wanted.set(play.title, await ours.perform(play))
  })
  after(async () => {
    await ours.close()
    await ways.close()
  })

  test('through our client do what they are meant to', () => {
    const refusals = (title: string): readonly string[] =>
      (wanted.get(title) ?? []).map((result) => (result as { refused?: string }).refused ?? 'ok')
    assert.deepEqual(refusals('a life'), [
      ...['NotFound', 'ok', 'AlreadyExists', 'ok', 'ok', 'Conflict', 'ok', 'ok', 'NotFound', 'NotFound'],
    ])
    assert.deepEqual(refusals('parts and copies'), ['ok', 'ok', 'NotFound', 'ok', 'Invalid', 'ok', 'ok', 'ok'])
    const copied = wanted.get('parts and copies')?.[6] as { readonly object: Record<'spec' | 'status', { replicas: number }> }
    assert.deepEqual([copied.object.spec.replicas, copied.object.status.replicas], [4, 2])
    assert.deepEqual(wanted.get('pages, dry runs and sweeps')?.slice(5, 9), [
      { names: ['a', 'b', 'c', 'd', 'e'] },
      { names: ['b'] },
      { names: ['a', 'c', 'd', 'e'] },
      { refused: 'BadRequest' },
    ])
    assert.deepEqual(refusals('pages, dry runs and sweeps').slice(9, 13), ['ok', 'AlreadyExists', 'NotFound', 'ok'])
    assert.deepEqual(wanted.get('pages, dry runs and sweeps')?.at(-1), { names: ['d', 'e'] })
    assert.deepEqual(refusals('what must be finished first'), ['ok', 'ok', 'ok', 'Invalid', 'ok', 'ok', 'NotFound'])
    assert.deepEqual(refusals('in the name of others'), ['ok', 'Forbidden', 'ok', 'ok', 'Forbidden', 'Forbidden'])
    assert.deepEqual(wanted.get('what a watch sees')?.at(-1), { events: ['ADDED one', 'MODIFIED one', 'DELETED before', 'DELETED one'] })
    assert.deepEqual(wanted.get('bookmarks'), [{ events: ['ADDED one', 'BOOKMARK ', 'ADDED two', 'DELETED one'] }])
    assert.deepEqual(wanted.get('versions that are not kept'), [{ refused: 'Expired' }])
    assert.deepEqual(wanted.get('tables')?.slice(-2), [
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
    for (const way of ['token', 'certificate'])
      assert.deepEqual(refusals(`the ${way} of a plugin`), ['ok', 'ok', 'NotFound', 'ok', 'Forbidden'])
    assert.deepEqual(refusals('the refused token of a plugin'), ['Unauthorized'])
    const count = [...wanted.values()].flat().length
    assert.ok(count >= 80, `${count} steps`)
  })

  /** Which client has played what with the same results. */
  const same = new Set<string>()

  for (const { name, obtained, open } of others) {
    describe(`through ${name}`, { skip: obtained.skip }, () => {
      const stage = new Stage((configuration) => open(obtained.path, configuration, ways.folder))
      after(() => stage.close())
      for (const play of plays) {
        test(play.title, async () => {
          assert.deepEqual(await stage.perform(play), wanted.get(play.title))
          same.add(`${name} ${play.title}`)
        })
      }
    })
  }

  test('the plugin is told the same by everybody who tells it something', () => {
    const told = ways.runs('token of a plugin').filter((line) => line !== '')
    const infos = told.map((line) => JSON.parse(line) as ExecInfo)
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
    // Older ones do not say it.
    assert.deepEqual([...new Set(infos.map(({ spec }) => spec.interactive ?? false))], [false])
  })

  test('docs/compatibility.md says which clients play what; UPDATE_DOCS=1 writes it', () => {
    const file = join(repoRoot, 'docs', 'compatibility.md')
    const text = readFileSync(file, 'utf8')
    const rowOf = ({ name }: Other): string =>
      `| ${name} | ${plays.map(({ title }) => (same.has(`${name} ${title}`) ? 'same' : 'differs')).join(' | ')} |`
    const mark = /(<!-- clients -->\n)([\s\S]*?)(<!-- \/clients -->)/
    if (process.env['UPDATE_DOCS'] === '1') {
      const head = `| client | ${plays.map(({ title }) => title).join(' | ')} |\n|${'---|'.repeat(plays.length + 1)}\n`
      const own = `| \`cluster-apiserver/client\` |${' same |'.repeat(plays.length)}\n`
      const table = `${head}${own}${others.map((other) => `${rowOf(other)}\n`).join('')}`
      writeFileSync(
        file,
        text.replace(mark, (_, begin: string, _old: string, end: string) => `${begin}${table}${end}`),
      )
      return
    }
    const written = mark.exec(text)?.[2] ?? ''
    // What could not be installed here says nothing.
    for (const other of others)
      if (other.obtained.skip === false) assert.ok(written.includes(`${rowOf(other)}\n`), `run it with UPDATE_DOCS=1: ${rowOf(other)}`)
  })
})
