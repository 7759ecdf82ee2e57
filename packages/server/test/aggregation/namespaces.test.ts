// Namespace deletion includes objects of extension API servers, and waits for unresponsive ones.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startEmbedded } from '../../../../test/kit/embedded.js'
import { expectStatus, newNamespace, until } from '../../../../test/kit/fixtures.js'
import { ExtensionServer, register, waitFor } from './extension-server.js'

interface TerminatingNamespace {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[] }
}

test('objects of an extension API server are deleted with their namespace', async () => {
  const { client, close } = await startEmbedded('memory')
  const extension = await ExtensionServer.start('gadgets.example')
  const service = await register(client, { server: extension })
  const namespace = await newNamespace(client)
  const path = `/apis/gadgets.example/v1/namespaces/${namespace}/gadgets`
  expectStatus(await client.post(path, { metadata: { name: 'one', namespace } }), 201)
  assert.equal(extension.gadgets.size, 1)
  // The first attempt fails: the condition names what is left, and deletion is retried.
  let refusals = 1
  extension.behaviour = ({ method }, response) => {
    if (method !== 'DELETE' || refusals-- <= 0) return undefined
    response.writeHead(500).end()
    return true
  }
  await client.delete(`/api/v1/namespaces/${namespace}`)
  await until(
    () => client.get(`/api/v1/namespaces/${namespace}`),
    ({ status }) => status === 404,
    60_000,
  )
  assert.equal(extension.gadgets.size, 0)
  const deletions = extension.seen.filter(({ method, url }) => method === 'DELETE' && url.startsWith(path))
  assert.equal(deletions.length, 2)
  assert.equal(deletions[0]?.headers['x-remote-group'], 'system:masters')
  await client.delete(service)
  extension.close()
  await close()
})

test('a namespace stays while the contents of an extension API server are unknown', async () => {
  const { client, close } = await startEmbedded('memory')
  const extension = await ExtensionServer.start('gone.example')
  const service = await register(client, { server: extension })
  extension.close()
  await client.patch(service, 'application/merge-patch+json', { spec: { versionPriority: 2 } })
  await waitFor(client, service, 'FailedDiscoveryCheck')
  const namespace = await newNamespace(client)
  await client.delete(`/api/v1/namespaces/${namespace}`)
  const terminating = await until(
    () => client.get(`/api/v1/namespaces/${namespace}`),
    ({ text }) => text.includes('DiscoveryFailed'),
    60_000,
  )
  const { status } = terminating.json as unknown as TerminatingNamespace
  assert.equal(
    status?.conditions?.find(({ type }) => type === 'NamespaceDeletionDiscoveryFailure')?.message,
    'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: gone.example/v1: the server is currently unable to handle the request',
  )
  await client.delete(service)
  await until(
    () => client.get(`/api/v1/namespaces/${namespace}`),
    (response) => response.status === 404,
    60_000,
  )
  await close()
})
