// An upgrade of a store of the format before that is killed at random moments: at each of them every entry is there once, with its version, and in
// the end everything is as if it had been written by this server. CRASH_UPGRADES says how many times, CRASH_SEED repeats the choices of an earlier
// run (not its timing). See upgrade-store.test.ts for many more moments.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, rmSync } from 'node:fs'
import { test } from 'node:test'
import { configMapOf, configMaps, expectStatus } from '../kit/fixtures.js'
import { downgradeStore, type FoundRow, formatOf, oldKey, oldValue, readRows } from '../kit/old-store.js'
import { commandPath } from '../kit/paths.js'
import { seededRandom } from '../kit/seeded-random.js'
import { newFolder, ServerProcess } from '../kit/server-process.js'

const kills = Number(process.env['CRASH_UPGRADES'] ?? 4)
const objects = 2000

type Rows = ReadonlyMap<string, FoundRow>

async function fill(dataDir: string): Promise<void> {
  const server = await ServerProcess.start({ dataDir })
  const text = 'x'.repeat(1500)
  for (let i = 0; i < objects; i += 50) {
    const some = Array.from({ length: 50 }, (_, j) => configMapOf(`map-${i + j}`, { labels: { j: String(j) }, data: { text } }))
    for (const answer of await Promise.all(some.map((object) => server.client.post(configMaps('default'), object))))
      expectStatus(answer, 201)
  }
  for (let i = 0; i < 20; i++) {
    const service = { metadata: { name: `service-${i}` }, spec: { type: 'NodePort', ports: [{ port: 80 }] } }
    expectStatus(await server.client.post('/api/v1/namespaces/default/services', service), 201)
  }
  await server.stop()
}

/** One start, killed so long after it began, or when it says that it is done; answers how long that took, 0 if it was killed before. */
async function upgrade(dataDir: string, killAfterMs: number): Promise<number> {
  const begunMs = performance.now()
  const child = spawn(process.execPath, [commandPath, '--secure-port=0', `--data-dir=${dataDir}`], { stdio: ['ignore', 'ignore', 'pipe'] })
  const timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  let said = ''
  let tookMs = 0
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
    if (tookMs > 0 || !said.includes('data file upgraded')) return
    tookMs = performance.now() - begunMs
    child.kill('SIGKILL')
  })
  await once(child, 'close')
  clearTimeout(timer)
  return tookMs
}

/** Every entry once, as it was or as it shall be; what a server wrote after the upgrade is newer. */
function check(found: Rows, { before, after }: { readonly before: Rows; readonly after: Rows }): void {
  const newest = Math.max(...[...after.values()].map(({ revision }) => revision))
  for (const [key, wanted] of after) {
    const old = oldKey(key)
    assert.ok(old === key || !(found.has(old) && found.has(key)), `${key} is there twice`)
    const row = found.get(key) ?? found.get(old)
    if ((row?.revision ?? 0) > newest) continue
    assert.equal(row?.revision, wanted.revision, key)
    assert.equal(row?.expiresAtMs, wanted.expiresAtMs, key)
    const isKnown = row?.value.equals(wanted.value) || row?.value.equals(before.get(old)?.value ?? Buffer.alloc(0))
    assert.ok(isKnown, `${key} has bytes that it never had`)
  }
  for (const [key, { revision }] of found) assert.ok(revision > newest || after.has(key) || before.has(key), `${key} came from nowhere`)
}

test(`an upgrade that is killed ${kills} times`, { timeout: 300_000 }, async (context) => {
  const random = seededRandom('CRASH_SEED')
  context.diagnostic(`CRASH_SEED=${random.seed}`)
  const [source, old] = [newFolder(), newFolder()]
  try {
    await fill(source)
    cpSync(source, old, { recursive: true })
    await downgradeStore(old)
    const states = { before: await readRows(old), after: await readRows(source) }
    for (const [key, row] of states.after) assert.ok(states.before.get(oldKey(key))?.value.equals(oldValue(key, row.value)))
    let wholeMs = 0
    let killed = 0
    for (let copies = 0; killed < kills; copies++) {
      assert.ok(copies < 5 * kills, 'the upgrade is never interrupted')
      const dataDir = newFolder()
      cpSync(old, dataDir, { recursive: true })
      while ((await formatOf(dataDir)) !== '4') {
        const tookMs = await upgrade(dataDir, copies === 0 ? 60_000 : wholeMs / 4 + random.below(Math.ceil(wholeMs)))
        if (tookMs === 0) killed += 1
        // The quickest one counts: the first may have had a busy machine, and then nothing would be killed on a calm one.
        else wholeMs = copies === 0 ? tookMs : Math.min(wholeMs, tookMs)
        check(await readRows(dataDir), states)
      }
      const found = await readRows(dataDir)
      for (const [key, { value, revision }] of states.after) {
        const row = found.get(key)
        assert.ok(row?.value.equals(value) || (row?.revision ?? 0) > revision, `${key} was not upgraded`)
      }
      rmSync(dataDir, { recursive: true, force: true })
    }
    context.diagnostic(`a start with an upgrade takes ${Math.round(wholeMs)} ms`)
  } finally {
    for (const folder of [source, old]) rmSync(folder, { recursive: true, force: true })
  }
})
