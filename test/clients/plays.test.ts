// The same plays through every client that there is: whoever performs them, the results are the same.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
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
    const life = wanted.get('a life') ?? []
    assert.deepEqual(
      life.map((result) => (result as { refused?: string }).refused ?? 'ok'),
      ['NotFound', 'ok', 'AlreadyExists', 'ok', 'ok', 'Conflict', 'ok', 'ok', 'NotFound', 'NotFound'],
    )
    assert.deepEqual(wanted.get('what a watch sees')?.at(-1), { events: ['ADDED one', 'MODIFIED one', 'DELETED before', 'DELETED one'] })
    const count = [...wanted.values()].flat().length
    assert.ok(count >= 35, `${count} steps`)
  })

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
        })
      }
    })
  }
})
