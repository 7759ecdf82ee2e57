// Killed at random moments, again and again: no acknowledged write is lost, no version is used twice, no watcher misses or repeats a change.
//
// CRASH_SECONDS sets how long each of the two tests goes on, CRASH_SEED repeats the choices of an earlier run (not its timing).

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import type { ApiClient } from '../kit/api-client.js'
import { configMapOf, configMaps, expectStatus, sleep } from '../kit/fixtures.js'
import { type Random, seededRandom } from '../kit/seeded-random.js'
import { newFolder, ServerProcess, startAndKill } from '../kit/server-process.js'
import { StoreModel } from './store-model.js'
import { replay, Watcher } from './watcher.js'
import { Writer } from './writer.js'

const seconds = Number(process.env['CRASH_SECONDS'] ?? 3.5)
/** Fewer writes test nothing: on a slow machine it takes more rounds to get so many. */
const leastWrites = 100
const mostRounds = 60
/** However slow the machine is. */
const leastKills = 4
const writers = 6
const watchers = 3
const path = configMaps('default')
const marker = 'marker'

interface Play {
  readonly random: Random
  readonly model: StoreModel
  readonly writers: readonly Writer[]
  readonly watchers: readonly Watcher[]
  readonly dataDir: string
  readonly flags: readonly string[]
}

const start = ({ dataDir, flags }: Pick<Play, 'dataDir' | 'flags'>): Promise<ServerProcess> => ServerProcess.start({ dataDir, flags })

async function prepare(flags: readonly string[], { watched }: { readonly watched: boolean }): Promise<Play> {
  const random = seededRandom('CRASH_SEED')
  const model = new StoreModel()
  const dataDir = newFolder()
  const server = await start({ dataDir, flags })
  expectStatus(await server.client.post(path, configMapOf(marker, { data: { v: 'begin' } })), 201)
  const list = (await server.client.get(path)).json
  model.doubt(marker, { value: 'begin' })
  model.reconcile(list)
  await server.kill()
  const from = Number(list.metadata.resourceVersion)
  return {
    random,
    model,
    dataDir,
    flags,
    writers: Array.from({ length: writers }, (_, i) => new Writer({ name: `w${i}`, path, model, random })),
    watchers: Array.from({ length: watched ? watchers : 0 }, () => new Watcher({ path, model, from })),
  }
}

/** One life of the server: look at what is there, write and watch, die. Returns how many writes were acknowledged. */
async function round(play: Play, number: number): Promise<number> {
  await maybeDieYoung(play)
  const server = await start(play)
  await inspect(play, server.client, number)
  const working = play.writers.map((writer) => writer.work(server.client))
  await sleep(20 + play.random.below(900))
  await server.kill()
  const acknowledged = await Promise.all(working)
  await Promise.all(play.watchers.map((watcher) => watcher.disconnected()))
  return acknowledged.reduce((sum, count) => sum + count, 0)
}

/** Sometimes a server is killed before it is ready, which must do no harm either. */
async function maybeDieYoung({ random, dataDir, flags }: Play): Promise<void> {
  if (random.next() < 0.3) await startAndKill({ dataDir, flags }, random.below(700))
}

async function inspect(play: Play, client: ApiClient, number: number): Promise<void> {
  play.model.reconcile(expectStatus(await client.get(path), 200).json)
  await Promise.all(play.watchers.map((watcher) => watcher.connect(client)))
  const value = `round ${number}`
  const floor = play.model.highest
  const { metadata } = expectStatus(await client.put(`${path}/${marker}`, configMapOf(marker, { data: { v: value } })), 200).json
  play.model.acknowledge(marker, { value, version: Number(metadata.resourceVersion) }, floor)
  await Promise.all(play.watchers.map((watcher) => watcher.until(marker, value)))
}

/** At the end all of history is read once more, and must be the story that every watcher saw in pieces. */
async function compareStories(play: Play, client: ApiClient, from: number): Promise<void> {
  const auditor = new Watcher({ path, model: play.model, from })
  await auditor.connect(client)
  await auditor.until(marker, play.model.known(marker)?.value ?? '')
  auditor.close()
  const whole = auditor.sights
  for (const watcher of play.watchers) assert.deepEqual(watcher.sights, whole)
  const versions = new Map(whole.map(({ version, meaning }) => [version, meaning]))
  for (const { key, value, version } of play.model.promised) {
    assert.equal(versions.get(version), `${key} = ${value}`, `the acknowledged write of version ${version} is not in history`)
  }
  const { items } = (await client.get(path)).json
  const state = replay([{ version: from, type: 'ADDED', name: marker, meaning: '' }, ...whole])
  assert.deepEqual([...state.keys()].sort(), items.map(({ metadata }) => metadata.name).sort())
}

async function perform(flags: readonly string[], { watched }: { readonly watched: boolean }): Promise<string> {
  const play = await prepare(flags, { watched })
  const from = play.model.highest
  const told = `seed ${play.random.seed}`
  try {
    const end = Date.now() + seconds * 1000
    let rounds = 0
    let acknowledged = 0
    while (Date.now() < end || rounds < leastKills || (acknowledged <= leastWrites && rounds < mostRounds))
      acknowledged += await round(play, ++rounds)
    const server = await start(play)
    await inspect(play, server.client, rounds + 1)
    if (watched) await compareStories(play, server.client, from)
    for (const watcher of play.watchers) watcher.close()
    await server.stop()
    assert.ok(acknowledged > leastWrites, `only ${acknowledged} writes in ${rounds} rounds: the test tests nothing`)
    rmSync(play.dataDir, { recursive: true })
    return `${told}: killed ${rounds} times, ${acknowledged} writes acknowledged`
  } catch (error) {
    throw new Error(`${told}, data kept in ${play.dataDir}`, { cause: error })
  }
}

test('killed under writers and watchers', async (t) => {
  t.diagnostic(await perform(['--etcd-compaction-interval=24h'], { watched: true }))
})

test('killed while history is being forgotten', async (t) => {
  t.diagnostic(await perform(['--etcd-compaction-interval=1s'], { watched: false }))
})
