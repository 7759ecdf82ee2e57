// Event loop lag: administrators, watches and probes are served, other requests get 429 before they are read.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configMapOf, configMaps, expectStatus, until, untilStatus } from '../../../../test/kit/fixtures.js'
import { ServerProcess, skipWithWorkers } from '../../../../test/kit/server-process.js'
import { unprivilegedClient, unprivilegedUserFlags } from '../../../../test/kit/unprivileged-user.js'

/** Loaded into the server: SIGUSR2 blocks the event loop in stretches of 150 ms, until the next SIGUSR2. */
const busyLoop = `let isBusy = false
const block = () => {
  for (const until = performance.now() + 150; performance.now() < until; );
  if (isBusy) setTimeout(block, 1)
}
process.on('SIGUSR2', () => {
  isBusy = !isBusy
  if (isBusy) block()
})`

const lagSeconds = async (server: ServerProcess): Promise<number> =>
  Number(/^nodejs_eventloop_lag_seconds (\S+)$/m.exec((await server.client.get('/metrics')).text)?.[1])

for (const fairness of [true, false]) {
  test(`event loop lag sheds low-priority requests, with${fairness ? '' : 'out'} priority and fairness`, {
    skip: skipWithWorkers('each sheds by its own lag'),
  }, async () => {
    const server = await ServerProcess.start({
      flags: [...unprivilegedUserFlags(), `--enable-priority-and-fairness=${fairness}`],
      nodeFlags: ['--import', `data:text/javascript,${encodeURIComponent(busyLoop)}`],
    })
    try {
      await checkShedding(server)
    } finally {
      await server.stop()
    }
  })
}

async function checkShedding(server: ServerProcess): Promise<void> {
  const unprivileged = unprivilegedClient(server)
  const untilPrompt = (): Promise<number> =>
    until(
      () => lagSeconds(server),
      (seconds) => seconds < 0.1,
    )
  await untilPrompt()
  await untilStatus(() => unprivileged.get(configMaps('default')), 200)
  server.signal('SIGUSR2')
  const rejected = await untilStatus(() => unprivileged.get(configMaps('default')), 429)
  assert.deepEqual([rejected.text, rejected.headers['retry-after']], ['Too many requests, please try again later.\n', '1'])
  // Body and query are invalid, to show that they are not read.
  const unread = await unprivileged.send({ method: 'POST', path: `${configMaps('default')}?dryRun=nonsense`, body: '{{{' })
  expectStatus(unread, 429)
  expectStatus(await unprivileged.get('/apis'), 429)
  expectStatus(await unprivileged.get('/livez'), 200)
  const watch = await unprivileged.watch(`${configMaps('default')}?watch=1`)
  watch.close()
  expectStatus(await server.client.post(configMaps('default'), configMapOf('meanwhile')), 201)
  assert.ok((await lagSeconds(server)) > 0.1)
  server.signal('SIGUSR2')
  await untilStatus(() => unprivileged.get(configMaps('default')), 200)
  await untilPrompt()
  unprivileged.close()
}
