// Start time of an embedded server in a cold and a warm process, and run time of `clusterctl get` with 500 objects.

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repoRoot } from '../../test/kit/paths.js'
import { fill, type Lab, makeNamespace } from '../lab.js'
import { configMapText } from '../objects.js'
import { plainEnvironment } from '../plain-environment.js'
import { type Line, milliseconds } from '../report.js'

const [coldMs, warmMs, getRatio] = [250, 60, 1.5] as const
const listed = 500

/** Runs a Node.js program; returns its duration and output. */
function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<{ readonly ms: number; readonly stdout: string }> {
  const begin = performance.now()
  return new Promise((resolve, reject) =>
    execFile(process.execPath, args, { env: plainEnvironment(env), timeout: 60_000 }, (error, stdout) =>
      error === null ? resolve({ ms: performance.now() - begin, stdout }) : reject(error),
    ),
  )
}

/** Program that prints the time from process start to a ready server, and the shortest of eight further starts. */
const embedding = `
  const { startServer } = require(${JSON.stringify(join(repoRoot, 'bin', 'index.cjs'))})
  startServer().then(async () => {
    const cold = performance.now()
    const times = []
    for (let i = 0; i < 8; i++) {
      const begun = performance.now()
      const server = await startServer()
      times.push(performance.now() - begun)
      await server.close()
    }
    process.stdout.write(JSON.stringify({ cold, warm: Math.min(...times) }), () => process.exit(0))
  })`

/** Takes the shortest time of all rounds, because other load only adds time. */
export async function measureEmbeddedStart(lab: Lab): Promise<readonly Line[]> {
  const rounds = lab.isQuick ? 7 : 20
  const { served, process: server } = await lab.start()
  const path = await makeNamespace(served, 'shown')
  await fill(served, { path, count: listed, body: (index) => configMapText({ name: `object-${index}`, bytes: 512 }) })
  const configuration = join(server.dataDir, 'admin.conf')
  const program = join(lab.folder, 'embedding.cjs')
  writeFileSync(program, embedding)
  const request = `require('node:https').get('https://127.0.0.1:${served.port}${path}?limit=500', { ca: process.env.CA, agent: false,
    headers: { authorization: 'Bearer ' + process.env.TOKEN, accept: 'application/json;as=Table;g=meta.cluster.io;v=v1' } }, (response) => response.resume())`
  const times = { empty: [] as number[], cold: [] as number[], warm: [] as number[], request: [] as number[], get: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    times.empty.push((await run(['-e', '0'])).ms)
    const { cold, warm } = JSON.parse((await run([program])).stdout) as { readonly cold: number; readonly warm: number }
    times.cold.push(cold)
    times.warm.push(warm)
    times.request.push((await run(['-e', request], { CA: served.ca, TOKEN: served.token })).ms)
    const get = [join(repoRoot, 'bin', 'clusterctl'), '-n', 'shown', 'get', 'configmaps']
    times.get.push((await run(get, { KUBECONFIG: configuration })).ms)
  }
  await server.stop()
  const best = (all: readonly number[]): number => Math.min(...all)
  const empty = `an empty program takes ${milliseconds(best(times.empty))}`
  const line = (workload: string, took: number, floor: number, bar: number): Line => ({
    workload,
    floor: milliseconds(floor),
    server: milliseconds(took),
    ratio: took / floor,
    bar,
    note: empty,
  })
  return [
    line('startServer() in a cold process', best(times.cold), coldMs, 1),
    line('startServer() once loaded', best(times.warm), warmMs, 1),
    line(`clusterctl get of ${listed}`, best(times.get), best(times.request), getRatio),
  ]
}
