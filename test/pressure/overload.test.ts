// An event loop that is late for a while: administrators, watches and probes go on, everybody else is sent away before anything is read.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configMapOf, configMaps, expectStatus, until } from '../kit/fixtures.js'
import { plainClient, plainUserFlags } from '../kit/plain-user.js'
import { ServerProcess } from '../kit/server-process.js'

/** In the server: SIGUSR2 keeps its loop busy in stretches of 150 ms, until the next one comes. */
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
  test(`a loop that is late sheds what can wait, with${fairness ? '' : 'out'} priority and fairness`, async () => {
    const server = await ServerProcess.start({
      flags: [...plainUserFlags(), `--enable-priority-and-fairness=${fairness}`],
      nodeFlags: ['--import', `data:text/javascript,${encodeURIComponent(busyLoop)}`],
    })
    try {
      await shed(server)
    } finally {
      await server.stop()
    }
  })
}

async function shed(server: ServerProcess): Promise<void> {
  const plain = plainClient(server)
  const becomesPrompt = (): Promise<number> =>
    until(
      () => lagSeconds(server),
      (seconds) => seconds < 0.1,
    )
  await becomesPrompt()
  await until(
    () => plain.get(configMaps('default')),
    ({ status }) => status === 200,
  )
  server.signal('SIGUSR2')
  const refused = await until(
    () => plain.get(configMaps('default')),
    ({ status }) => status === 429,
  )
  assert.deepEqual([refused.text, refused.headers['retry-after']], ['Too many requests, please try again later.\n', '1'])
  // Neither body nor query is looked at: both are nonsense.
  const unread = await plain.send({ method: 'POST', path: `${configMaps('default')}?dryRun=nonsense`, body: '{{{' })
  expectStatus(unread, 429)
  expectStatus(await plain.get('/apis'), 429)
  expectStatus(await plain.get('/livez'), 200)
  const watch = await plain.watch(`${configMaps('default')}?watch=1`)
  watch.close()
  expectStatus(await server.client.post(configMaps('default'), configMapOf('meanwhile')), 201)
  assert.ok((await lagSeconds(server)) > 0.1)
  server.signal('SIGUSR2')
  await until(
    () => plain.get(configMaps('default')),
    ({ status }) => status === 200,
  )
  await becomesPrompt()
  plain.close()
}
