// The same plays through every client that there is: whoever performs them, the results are the same.

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { repoRoot } from '../kit/paths.js'
import { ServerProcess } from '../kit/server-process.js'
import { Kubectl } from './kubectl.js'
import { newNamespace } from './namespaces.js'
import { obtainClientNode } from './obtain-client-node.js'
import { obtainKubectl } from './obtain-kubectl.js'
import { obtainPython } from './obtain-python.js'
import type { Obtained } from './obtaining.js'
import { ClientNodePlayer } from './plays/client-node-player.js'
import { KubectlPlayer } from './plays/kubectl-player.js'
import { OurPlayer } from './plays/our-player.js'
import { comparable, type Player } from './plays/play.js'
import { plays } from './plays/plays.js'
import { PythonPlayer } from './plays/python-player.js'

const [kubectl, clientNode, python] = await Promise.all([obtainKubectl(), obtainClientNode(), obtainPython()])

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
    open: async (command, clientConfiguration, home) => new KubectlPlayer(new Kubectl({ command, clientConfiguration, home, minor: 26 })),
  },
  { name: 'python3-kubernetes', obtained: python, open: async (path, configuration) => new PythonPlayer(path, configuration) },
  { name: '@kubernetes/client-node', obtained: clientNode, open: (path, configuration) => ClientNodePlayer.open(path, configuration) },
]

describe('plays', () => {
  const home = mkdtempSync(join(tmpdir(), 'plays-home-'))
  let server: ServerProcess
  let ours: OurPlayer
  const wanted = new Map<string, readonly unknown[]>()

  before(async () => {
    server = await ServerProcess.start({ flags: ['--identity=kubernetes'] })
    ours = new OurPlayer(join(server.dataDir, 'admin.conf'))
    for (const play of plays) wanted.set(play.title, await perform(ours, play.title))
  })
  after(async () => {
    await ours.close()
    await server.stop()
    rmSync(home, { recursive: true, force: true })
  })

  async function perform(player: Player, title: string): Promise<readonly unknown[]> {
    const namespace = await newNamespace(server.client)
    const results: unknown[] = []
    for (const step of plays.find((play) => play.title === title)?.steps ?? [])
      results.push(comparable(await player.perform(step, namespace)))
    return results
  }

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
    const count = [...wanted.values()].flat().length
    assert.ok(count >= 65, `${count} steps`)
  })

  /** Which client has played what with the same results. */
  const same = new Set<string>()

  for (const { name, obtained, open } of others) {
    describe(`through ${name}`, { skip: obtained.skip }, () => {
      let player: Player
      before(async () => {
        player = await open(obtained.path, join(server.dataDir, 'admin.conf'), home)
      })
      after(() => player.close())
      for (const { title } of plays) {
        test(title, async () => {
          assert.deepEqual(await perform(player, title), wanted.get(title))
          same.add(`${name} ${title}`)
        })
      }
    })
  }

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
