// Deletes the objects of extension API servers in a terminating namespace, and counts the remaining ones.

import type { ApiServiceSource, RemoteVersion } from '@cluster-apiserver/api/api/catalog/api-services.js'
import type { DiscoveredResource } from '@cluster-apiserver/api/api/catalog/remote-discovery.js'
import { inParallel } from '@cluster-apiserver/api/base/async/in-parallel.js'
import { isRecord } from '@cluster-apiserver/api/schema/json/read.js'
import type { ExtensionClient, ExtensionRequest } from '../aggregation/extension-client.js'
import { discoveryPath } from '../aggregation/probe-api-service.js'
import { discoveryLimits, readResourceList } from '../aggregation/read-remote-discovery.js'

export interface RemoteRemaining {
  /** Number of objects by resource and group. */
  readonly objects: ReadonlyMap<string, number>
  readonly failures: readonly unknown[]
  /** Versions, as `group/version`, whose discovery failed. */
  readonly undiscovered: readonly string[]
}

export type DeleteRemoteContents = (namespace: string, signal: AbortSignal) => Promise<RemoteRemaining>

const requestTimeoutMs = 10_000
const maxListBytes = 4 << 20
const concurrency = 8

export const deleteRemoteContents =
  (services: ApiServiceSource, extensionClient: ExtensionClient): DeleteRemoteContents =>
  async (namespace, signal) => {
    const objects = new Map<string, number>()
    const failures: unknown[] = []
    const undiscovered: string[] = []
    const deletedResources = new Set<string>()
    const send = async (version: RemoteVersion, request: Pick<ExtensionRequest, 'path' | 'method'>, maxBytes: number): Promise<unknown> => {
      const { status, body } = await extensionClient.request(version.remote, {
        accept: 'application/json',
        timeoutMs: requestTimeoutMs,
        maxBytes,
        signal,
        ...request,
      })
      if (status === 404) return undefined
      if (status < 200 || status > 299) throw new Error(`${request.method ?? 'GET'} ${request.path} returned status ${status}`)
      return body.toString()
    }
    const deleteCollection = async (version: RemoteVersion, resource: DiscoveredResource): Promise<void> => {
      const name = `${resource.resource}.${version.group}`
      try {
        const remaining = await deleteAll(version, { resource, namespace, send })
        if (remaining > 0) objects.set(name, remaining)
      } catch (thrown) {
        failures.push(thrown)
      }
    }
    await inParallel([...services.current.remotes], concurrency, async (version) => {
      const resources = await resourcesOf(version, send).catch(() => undefined)
      if (resources === undefined) {
        undiscovered.push(`${version.group}/${version.version}`)
        return
      }
      for (const resource of resources) {
        const name = `${resource.resource}.${version.group}`
        // Same objects in another version.
        if (deletedResources.has(name)) continue
        deletedResources.add(name)
        await deleteCollection(version, resource)
      }
    })
    return { objects, failures, undiscovered }
  }

type Send = (version: RemoteVersion, request: Pick<ExtensionRequest, 'path' | 'method'>, maxBytes: number) => Promise<unknown>

async function resourcesOf(version: RemoteVersion, send: Send): Promise<readonly DiscoveredResource[] | undefined> {
  if (!version.isAvailable) return undefined
  const text = await send(version, { path: discoveryPath(version) }, discoveryLimits.bytes)
  if (typeof text !== 'string') return undefined
  const { resources } = readResourceList(version, text)
  return resources.filter(({ scope, verbs }) => scope === 'Namespaced' && verbs.includes('list') && verbs.includes('delete'))
}

interface Collection {
  readonly resource: DiscoveredResource
  readonly namespace: string
  readonly send: Send
}

async function deleteAll(version: RemoteVersion, { resource, namespace, send }: Collection): Promise<number> {
  const path = `${discoveryPath(version)}/namespaces/${encodeURIComponent(namespace)}/${encodeURIComponent(resource.resource)}`
  const before = await list(version, path, send)
  if (before.names.length === 0) return before.more
  const options = 'propagationPolicy=Background'
  if (resource.verbs.includes('deletecollection')) await send(version, { method: 'DELETE', path: `${path}?${options}` }, maxListBytes)
  else
    await inParallel(before.names, concurrency, async (name) => {
      await send(version, { method: 'DELETE', path: `${path}/${encodeURIComponent(name)}?${options}` }, maxListBytes)
    })
  const after = await list(version, path, send)
  return after.names.length + after.more
}

const pageSize = 500

async function list(
  version: RemoteVersion,
  path: string,
  send: Send,
): Promise<{ readonly names: readonly string[]; readonly more: number }> {
  const text = await send(version, { path: `${path}?limit=${pageSize}` }, maxListBytes)
  const found: unknown = typeof text === 'string' ? JSON.parse(text) : undefined
  if (!isRecord(found) || !Array.isArray(found['items'])) return { names: [], more: 0 }
  const names = found['items'].flatMap((item: unknown) => {
    const metadata = isRecord(item) ? item['metadata'] : undefined
    const name = isRecord(metadata) ? metadata['name'] : undefined
    return typeof name === 'string' && name !== '' ? [name] : []
  })
  const more = isRecord(found['metadata']) ? found['metadata']['remainingItemCount'] : undefined
  return { names, more: typeof more === 'number' && more > 0 ? more : 0 }
}
