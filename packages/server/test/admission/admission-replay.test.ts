// For people who write hooks: a plain one on this machine, what it was sent, and the same sent again.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { startEmbedded } from '../kit/embedded.js'
import { configMaps, expectStatus, newNamespace } from '../kit/fixtures.js'
import { runInside } from '../kit/run-inside.js'
import { runCommand, ServerProcess } from '../kit/server-process.js'
import { configurationsPath, configure, hookEntry, patchOf, type Review, sendReview } from './tls-hooks.js'

/** A hook as somebody has it on their own machine. */
async function startPlainHook(answer: (review: Review) => object) {
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(parts).toString()) as Review
      sendReview(response, review, answer(review))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

test('a plain hook is refused unless that is allowed, and elsewhere always', async (t) => {
  const strict = await startEmbedded('memory')
  t.after(strict.close)
  const entry = (url: string) => ({ metadata: { name: 'm' }, webhooks: [hookEntry(url)] })
  expectStatus(await strict.client.post(configurationsPath('mutating'), entry('http://127.0.0.1:1/m')), 422)
  const loose = await startEmbedded('memory', ['--insecure-loopback-webhooks'])
  t.after(loose.close)
  for (const url of ['http://example.com/m', 'http://127.0.0.1.example.com/m', 'http://10.0.0.1/m', 'ftp://127.0.0.1/m'])
    expectStatus(await loose.client.post(configurationsPath('mutating'), entry(url)), 422)
  expectStatus(await loose.client.post(configurationsPath('mutating'), entry('http://127.0.0.1:1/m')), 201)
  expectStatus(await strict.client.get('/debug/admission/reviews'), 404)
})

test('recorded reviews are sent again, and what is different is shown', async (t) => {
  const server = await ServerProcess.start({ flags: ['--insecure-loopback-webhooks', '--recorded-admission-reviews=5'] })
  t.after(() => server.stop())
  let value = 'first'
  const hook = await startPlainHook(() => ({ ...patchOf([{ op: 'add', path: '/data/by', value }]), warnings: ['careful'] }))
  t.after(hook.close)
  await configure(server.client, 'mutating', 'm', [
    hookEntry(`${hook.url}/mutate`, {
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
  const argv = ['admission', 'replay', `--data-dir=${server.dataDir}`, `--to=${hook.url}/mutate`, '--webhook=mutate.example.com']
  const { code, stdout, stderr } = await runCommand(argv)
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(
    stdout,
    new RegExp(
      `mutate\\.example\\.com: CREATE configmaps ${namespace}/a6\\n  allowed\\n  warning: careful\\n  \\+ /data/by: "second"\\n  at the time:\\n    allowed\\n    warning: careful\\n    \\+ /data/by: "first"\\n`,
    ),
  )
  assert.ok(!stdout.includes('dg=='))
  assert.equal((stdout.match(/CREATE/g) ?? []).length, 5)

  const again = await runInside([...argv, '--last=1'])
  assert.equal((again.stdout.match(/CREATE/g) ?? []).length, 1)
  assert.deepEqual((await runInside(['admission', 'replay'])).code, 2)
  const nobody = await runInside(['admission', 'replay', `--data-dir=${server.dataDir}`, '--to=http://127.0.0.1:1/'])
  assert.equal(nobody.code, 1)
  assert.match(nobody.stdout, /failed: connect ECONNREFUSED/)
})
