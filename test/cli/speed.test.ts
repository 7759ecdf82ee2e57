// A command of a person is answered at once: 500 objects take little more than an empty program and the request itself.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { repoRoot } from '../kit/paths.js'
import { play } from './play.js'

const start = play()
const rounds = 7

/** The server answers in this process, so the child must not be waited for by holding it. */
async function timed(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const begun = performance.now()
  const code = await new Promise((resolve) => spawn(process.execPath, args, { env, stdio: 'ignore' }).on('exit', resolve))
  assert.equal(code, 0)
  return performance.now() - begun
}

test('get of 500 objects', { timeout: 120_000 }, async () => {
  const { server, folder, ok } = start()
  const maps = server.client.core.v1.configMaps('default')
  for (let i = 0; i < 10; i++) await Promise.all(Array.from({ length: 50 }, (_, k) => maps.create({ metadata: { name: `m-${i}-${k}` } })))
  await ok('get', 'cm')
  const env = { PATH: process.env['PATH'], HOME: folder, KUBECONFIG: join(folder, 'config'), CA: server.caPem, TOKEN: server.token }
  const request = `require('node:https').get(${JSON.stringify(`${server.url}/api/v1/namespaces/default/configmaps?limit=500`)}, { ca: process.env.CA, agent: false,
    headers: { authorization: 'Bearer ' + process.env.TOKEN, accept: 'application/json;as=Table;g=meta.cluster.io;v=v1' } }, (answer) => answer.resume())`
  const times = { empty: [] as number[], request: [] as number[], get: [] as number[] }
  for (let i = 0; i < rounds; i++) {
    times.empty.push(await timed(['-e', '0'], env))
    times.request.push(await timed(['-e', request], env))
    times.get.push(await timed([join(repoRoot, 'bin', 'clusterctl'), 'get', 'cm'], env))
  }
  const best = (all: readonly number[]): number => Math.min(...all)
  const [get, floor] = [best(times.get), best(times.request)]
  assert.ok(get <= 1.5 * floor, `${get} ms, and ${floor} ms for an empty program with the request`)
})
