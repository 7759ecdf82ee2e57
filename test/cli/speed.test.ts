// A command of a person is answered at once: 500 objects take little more than an empty program and the request itself.

import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runToEnd } from '../clients/obtaining.js'
import { repoRoot } from '../kit/paths.js'
import { play } from './play.js'

const start = play()
const rounds = 5
/** So many when the first were spoilt by others. */
const mostRounds = 25

/** Processor time, for the machine may be busy with other things: then even an empty program takes long. */
async function timed(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const { code, stderr } = await runToEnd('bash', ['-c', 'TIMEFORMAT="%U %S"; time "$@" > /dev/null', 'bash', process.execPath, ...args], {
    env,
  })
  assert.equal(code, 0, stderr)
  const [user = 0, system = 0] = stderr.trim().split(' ').map(Number)
  return (user + system) * 1000
}

test('get of 500 objects', { timeout: 300_000 }, async () => {
  const { server, folder, ok } = start()
  const maps = server.client.core.v1.configMaps('default')
  for (let i = 0; i < 10; i++) await Promise.all(Array.from({ length: 50 }, (_, k) => maps.create({ metadata: { name: `m-${i}-${k}` } })))
  await ok('get', 'cm')
  const env = { PATH: process.env['PATH'], HOME: folder, KUBECONFIG: join(folder, 'config'), CA: server.caPem, TOKEN: server.token }
  const request = `require('node:https').get(${JSON.stringify(`${server.url}/api/v1/namespaces/default/configmaps?limit=500`)}, { ca: process.env.CA, agent: false,
    headers: { authorization: 'Bearer ' + process.env.TOKEN, accept: 'application/json;as=Table;g=meta.cluster.io;v=v1' } }, (answer) => answer.resume())`
  const times = { empty: [] as number[], request: [] as number[], get: [] as number[] }
  const best = (all: readonly number[]): number => Math.min(...all)
  const median = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[all.length >> 1] as number
  const ratios = (): readonly number[] => times.get.map((ms, i) => ms / (times.request[i] as number))
  // On a busy machine the best of one may be luck, and then what is usual counts.
  const isQuick = (): boolean => best(times.get) <= 1.5 * best(times.request) || median(ratios()) <= 1.5
  for (let i = 0; i < rounds || (i < mostRounds && !isQuick()); i++) {
    times.empty.push(await timed(['-e', '0'], env))
    times.request.push(await timed(['-e', request], env))
    times.get.push(await timed([join(repoRoot, 'bin', 'clusterctl'), 'get', 'cm'], env))
  }
  const [get, floor] = [best(times.get), best(times.request)]
  if (process.env['SPEED_VERBOSE'] === '1') console.log({ empty: best(times.empty), floor, get })
  assert.ok(isQuick(), `${get} ms, and ${floor} ms for an empty program with the request; ${median(ratios())} times as long in the median`)
})

test('the script that every command reads is small', () => {
  // Schemas of all kinds and an engine for patterns are scripts of their own, for the commands that need them.
  const bytes = statSync(join(repoRoot, 'dist', 'bundle', 'clusterctl.cjs')).size
  assert.ok(bytes < 850_000, `${bytes} bytes`)
})
