// What other servers hold in a namespace that is being deleted: they are asked which resources they have, told to delete all of them, and asked
// what is left.

import type { ApiServiceSource, RemoteVersion } from '../../api/api-services.js'
import type { DiscoveredResource } from '../../api/discovered.js'
import { inParallel } from '../../base/in-parallel.js'
import { isRecord } from '../../schema/read.js'
import type { ExtensionAsker, Question } from './ask-extension.js'
import { discoveryPath } from './probe-version.js'
import { discoveryLimits, readResourceList } from './read-discovery.js'

export interface LeftElsewhere {
  /** How many, by the resource with its group. */
  readonly objects: ReadonlyMap<string, number>
  /** One for each resource that could not be deleted. */
  readonly failures: readonly unknown[]
  /** Versions, as `group/version`, whose servers did not say what they have. */
  readonly undiscovered: readonly string[]
}

/** Asks every other server to delete what it holds in a namespace. */
export type DeleteElsewhere = (namespace: string, signal: AbortSignal) => Promise<LeftElsewhere>

const askMs = 10_000
const listBytes = 4 << 20
const width = 8

export const deleteElsewhere =
  (services: ApiServiceSource, asker: ExtensionAsker): DeleteElsewhere =>
  async (namespace, signal) => {
    const objects = new Map<string, number>()
    const failures: unknown[] = []
    const undiscovered: string[] = []
    const emptied = new Set<string>()
    const ask = async (version: RemoteVersion, question: Pick<Question, 'path' | 'method'>, mostBytes: number): Promise<unknown> => {
      const { status, body } = await asker.ask(version.remote, {
        accept: 'application/json',
        timeoutMs: askMs,
        mostBytes,
        signal,
        ...question,
      })
      if (status === 404) return undefined
      if (status < 200 || status > 299) throw new Error(`${question.method ?? 'GET'} ${question.path} was answered with status ${status}`)
      return body.toString()
    }
    const empty = async (version: RemoteVersion, resource: DiscoveredResource): Promise<void> => {
      const name = `${resource.resource}.${version.group}`
      try {
        const left = await deleteAll(version, { resource, namespace, ask })
        if (left > 0) objects.set(name, left)
      } catch (thrown) {
        failures.push(thrown)
      }
    }
    await inParallel([...services.current.remotes], width, async (version) => {
      const resources = await resourcesOf(version, ask).catch(() => undefined)
      if (resources === undefined) {
        undiscovered.push(`${version.group}/${version.version}`)
        return
      }
      for (const resource of resources) {
        const name = `${resource.resource}.${version.group}`
        // The same objects in another version.
        if (emptied.has(name)) continue
        emptied.add(name)
        await empty(version, resource)
      }
    })
    return { objects, failures, undiscovered }
  }

type Ask = (version: RemoteVersion, question: Pick<Question, 'path' | 'method'>, mostBytes: number) => Promise<unknown>

/** Those that can be emptied; undefined where it is not known. */
async function resourcesOf(version: RemoteVersion, ask: Ask): Promise<readonly DiscoveredResource[] | undefined> {
  if (!version.isAvailable) return undefined
  const text = await ask(version, { path: discoveryPath(version) }, discoveryLimits.bytes)
  if (typeof text !== 'string') return undefined
  const { resources } = readResourceList(version, text)
  return resources.filter(({ scope, verbs }) => scope === 'Namespaced' && verbs.includes('list') && verbs.includes('delete'))
}

interface Emptying {
  readonly resource: DiscoveredResource
  readonly namespace: string
  readonly ask: Ask
}

/** How many are left. */
async function deleteAll(version: RemoteVersion, { resource, namespace, ask }: Emptying): Promise<number> {
  const path = `${discoveryPath(version)}/namespaces/${encodeURIComponent(namespace)}/${encodeURIComponent(resource.resource)}`
  const before = await list(version, path, ask)
  if (before.names.length === 0) return before.more
  const options = 'propagationPolicy=Background'
  if (resource.verbs.includes('deletecollection')) await ask(version, { method: 'DELETE', path: `${path}?${options}` }, listBytes)
  else
    await inParallel(before.names, width, async (name) => {
      await ask(version, { method: 'DELETE', path: `${path}/${encodeURIComponent(name)}?${options}` }, listBytes)
    })
  const after = await list(version, path, ask)
  return after.names.length + after.more
}

const pageSize = 500

async function list(version: RemoteVersion, path: string, ask: Ask): Promise<{ readonly names: readonly string[]; readonly more: number }> {
  const text = await ask(version, { path: `${path}?limit=${pageSize}` }, listBytes)
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
