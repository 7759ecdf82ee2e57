// Starts a server for one test of workload controllers, with a client and a namespace.

import type { TestContext } from 'node:test'
import { startServer } from 'cluster-apiserver'
import { clientOf } from '../../../../test/kit/embedded.js'
import { expectStatus, newNamespace } from '../../../../test/kit/fixtures.js'

/** `Shown`: the fields of objects that the test reads. */
export async function startWithFlags<Shown>(t: TestContext, ...flags: readonly string[]) {
  const server = await startServer({ identity: 'kubernetes', flags: [...flags] })
  t.after(() => server.close({ immediately: true }))
  const client = clientOf(server)
  t.after(() => client.close())
  const namespace = await newNamespace(client)
  return {
    server,
    client,
    namespace,
    core: `/api/v1/namespaces/${namespace}`,
    get: async (path: string) => (await client.get(path)).json as unknown as Shown,
    create: async (path: string, object: object) => expectStatus(await client.post(path, object), 201).json as unknown as Shown,
  }
}

/** Sets pods to Running and Ready; ignores pods that were deleted meanwhile. */
export async function makePodsReady(
  { client, core }: Pick<Awaited<ReturnType<typeof startWithFlags>>, 'client' | 'core'>,
  pods: readonly { readonly metadata: { readonly name: string } }[],
): Promise<void> {
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }]
  for (const { metadata } of pods)
    await client.patch(`${core}/pods/${metadata.name}/status`, 'application/merge-patch+json', { status: { phase: 'Running', conditions } })
}
