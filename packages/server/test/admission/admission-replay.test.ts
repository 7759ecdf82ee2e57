// Webhook development: plain HTTP webhooks on loopback, recorded AdmissionReviews, and `admission replay`.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { startEmbedded } from '../../../../test/kit/embedded.js'
import { configMaps, expectStatus, newNamespace } from '../../../../test/kit/fixtures.js'
import { runInProcess } from '../../../../test/kit/run-command.js'
import { runCommand, ServerProcess, skipWithWorkers } from '../../../../test/kit/server-process.js'
import { configurationsPath, configure, patchOf, type Review, sendReview, webhookEntry } from './tls-webhooks.js'

async function startHttpWebhook(respond: (review: Review) => object) {
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(parts).toString()) as Review
      sendReview(response, review, respond(review))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

test('an http:// webhook is rejected unless allowed, and always outside loopback', async (t) => {
  const strict = await startEmbedded('memory')
  t.after(strict.close)
  const entry = (url: string) => ({ metadata: { name: 'm' }, webhooks: [webhookEntry(url)] })
  expectStatus(await strict.client.post(configurationsPath('mutating'), entry('http://127.0.0.1:1/m')), 422)
  const loose = await startEmbedded('memory', ['--insecure-loopback-webhooks'])
  t.after(loose.close)
  for (const url of ['http://example.com/m', 'http://127.0.0.1.example.com/m', 'http://10.0.0.1/m', 'ftp://127.0.0.1/m'])
    expectStatus(await loose.client.post(configurationsPath('mutating'), entry(url)), 422)
  expectStatus(await loose.client.post(configurationsPath('mutating'), entry('http://127.0.0.1:1/m')), 201)
  expectStatus(await strict.client.get('/debug/admission/reviews'), 404)
})

test('recorded reviews are replayed, and differing responses are shown', { skip: skipWithWorkers('each records its own') }, async (t) => {
  const server = await ServerProcess.start({ flags: ['--insecure-loopback-webhooks', '--recorded-admission-reviews=5'] })
  t.after(() => server.stop())
  let value = 'first'
  const webhook = await startHttpWebhook(() => ({ ...patchOf([{ op: 'add', path: '/data/by', value }]), warnings: ['careful'] }))
  t.after(webhook.close)
  await configure(server.client, 'mutating', 'm', [
    webhookEntry(`${webhook.url}/mutate`, {
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps', 'secrets'] }],
      objectSelector: { matchLabels: { mine: 'yes' } },
    }),
  ])
  const namespace = await newNamespace(server.client)
  const object = (name: string) => ({ metadata: { name, labels: { mine: 'yes' } }, data: { k: 'dg==' } })
  for (let i = 0; i < 7; i++) expectStatus(await server.client.post(configMaps(namespace), object(`a${i}`)), 201)
  value = 'c2Vj'
  expectStatus(await server.client.post(`/api/v1/namespaces/${namespace}/secrets`, object('s')), 201)
  const recorded = expectStatus(await server.client.get('/debug/admission/reviews'), 200).json as unknown as { items: readonly unknown[] }
  assert.equal(recorded.items.length, 5)

  value = 'second'
  const argv = ['admission', 'replay', `--data-dir=${server.dataDir}`, `--to=${webhook.url}/mutate`, '--webhook=mutate.example.com']
  const { code, stdout, stderr } = await runCommand(argv)
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(
    stdout,
    new RegExp(
      `mutate\\.example\\.com: CREATE configmaps ${namespace}/a6\\n  allowed\\n  warning: careful\\n  \\+ /data/by: "second"\\n  recorded:\\n    allowed\\n    warning: careful\\n    \\+ /data/by: "first"\\n`,
    ),
  )
  assert.ok(!stdout.includes('dg=='))
  assert.equal((stdout.match(/CREATE/g) ?? []).length, 5)

  const again = await runInProcess([...argv, '--last=1'])
  assert.equal((again.stdout.match(/CREATE/g) ?? []).length, 1)
  assert.deepEqual((await runInProcess(['admission', 'replay'])).code, 2)
  const unreachable = await runInProcess(['admission', 'replay', `--data-dir=${server.dataDir}`, '--to=http://127.0.0.1:1/'])
  assert.equal(unreachable.code, 1)
  assert.match(unreachable.stdout, /failed: connect ECONNREFUSED/)
})
