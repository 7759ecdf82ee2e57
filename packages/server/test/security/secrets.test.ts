// Tokens do not appear in logs, metrics or error responses, nor in stdout, except in the kubeconfig that a server in memory prints.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { ApiClient } from '../../../../test/kit/api-client.js'
import { expectStatus, untilStatus } from '../../../../test/kit/fixtures.js'
import { ServerProcess } from '../../../../test/kit/server-process.js'
import { FlagFiles } from './make-pki.js'

test('tokens appear in no log, metric or error', async () => {
  const files = new FlagFiles()
  // A webhook that quotes its request, as faulty ones do.
  const webhook = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => response.writeHead(403).end(`cannot handle ${body}`))
  })
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve))
  const config = {
    clusters: [{ name: 'w', cluster: { server: `http://127.0.0.1:${(webhook.address() as AddressInfo).port}/` } }],
    users: [{ name: 'u', user: { token: 'secret-of-the-webhook' } }],
    contexts: [{ name: 'c', context: { cluster: 'w', user: 'u' } }],
    'current-context': 'c',
  }
  const server = await ServerProcess.start({
    flags: [
      '--v=8',
      `--token-auth-file=${files.write('tokens.csv', 'secret-of-bob,bob,bob-uid\n')}`,
      `--authentication-token-webhook-config-file=${files.write('webhook.yaml', JSON.stringify(config))}`,
    ],
  })
  const { client } = server
  const accounts = '/api/v1/namespaces/default/serviceaccounts'
  const responses: string[] = []
  const as = async (token: string, path: string) => {
    const other = new ApiClient({ url: server.url, ca: server.access.ca, token })
    responses.push((await other.get(path)).text)
    other.close()
  }
  try {
    await untilStatus(() => client.get(`${accounts}/default`), 200)
    const issued = expectStatus(await client.post(`${accounts}/default/token`, { spec: {} }), 201)
    const { token } = issued.json['status'] as { readonly token: string }
    const broken = `${token.slice(0, -8)}AAAAAAAA`
    const secrets = ['secret-of-bob', 'secret-that-nobody-knows', 'secret-of-the-webhook', token, broken, server.access.token ?? '']
    for (const secret of ['secret-of-bob', token, broken])
      for (const path of ['/api', '/api/v1/secrets', '/nothing']) await as(secret, path)
    await as('secret-that-nobody-knows', '/api')
    const review = await client.post('/apis/authentication.cluster.io/v1/tokenreviews', { spec: { token: broken } })
    responses.push(JSON.stringify(expectStatus(review, 201).json['status']))
    // Without the kubeconfig, which a server in memory prints with the administrator token.
    responses.push((await client.get('/metrics')).text, server.stdout.replace(/token: "[^"]*"/, ''), server.stderr)
    for (const secret of secrets) {
      assert.ok(secret.length > 8)
      assert.deepEqual(
        responses.filter((text) => text.includes(secret)).map((text) => text.slice(0, 200)),
        [],
      )
    }
  } finally {
    await server.stop()
    webhook.close()
    files.remove()
  }
})
