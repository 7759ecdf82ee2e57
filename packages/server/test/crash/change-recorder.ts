// Records every change of some collections over a whole run: its watches continue at the last version when a server is killed.

import type { ApiClient } from '../../../../test/kit/api-client.js'
import { sleep, until } from '../../../../test/kit/fixtures.js'
import type { JsonObject } from '../../../../test/kit/network/json-object.js'

export interface Change {
  readonly version: number
  /** Plural of the resource. */
  readonly plural: string
  readonly type: string
  readonly object: JsonObject
}

interface Recording {
  /** Clients of the servers that run now. */
  readonly clients: () => readonly ApiClient[]
  /** Paths of collections that are empty at `version`. */
  readonly paths: readonly string[]
  readonly version: string
}

export class ChangeRecorder {
  readonly #recording: Recording
  readonly #changes: Change[] = []
  readonly #watches: Promise<void>[]
  readonly #seenVersions = new Map<string, string>()
  #isClosed = false

  constructor(recording: Recording) {
    this.#recording = recording
    this.#watches = recording.paths.map((path) => this.#follow(path))
  }

  /** Changes so far, in the order of their versions. */
  get changes(): readonly Change[] {
    return this.#changes.toSorted((a, b) => a.version - b.version)
  }

  /** Resolves when the recorded changes lead to the state that the server has. */
  async close(client: ApiClient): Promise<readonly Change[]> {
    for (const path of this.#recording.paths)
      await until(
        async () => [this.#stateOf(path), (await client.get(path)).json.items.map(versionOf)],
        ([recorded = [], stored = []]) => recorded.toSorted().join() === stored.toSorted().join(),
      )
    this.#isClosed = true
    await Promise.all(this.#watches)
    return this.changes
  }

  #stateOf(path: string): readonly string[] {
    const state = new Map<string, string>()
    for (const { plural, type, object } of this.changes) {
      if (plural !== pluralOf(path)) continue
      if (type === 'DELETED') state.delete(object.metadata.name)
      else state.set(object.metadata.name, versionOf(object))
    }
    return [...state.values()]
  }

  async #follow(path: string): Promise<void> {
    for (let turn = 0; !this.#isClosed; turn++) {
      const clients = this.#recording.clients()
      const client = clients[turn % Math.max(1, clients.length)]
      await (client === undefined ? sleep(50) : this.#watch(client, path).catch(() => sleep(50)))
    }
  }

  /** Follows one watch until it ends. Another replica may still have history that this one lost: its error changes nothing. */
  async #watch(client: ApiClient, path: string): Promise<void> {
    const version = this.#seenVersions.get(path) ?? this.#recording.version
    const stream = await client.watch(`${path}?watch=true&resourceVersion=${version}`)
    let count = 0
    while (!this.#isClosed && (!stream.isEnded || count < stream.events.length)) {
      const event = stream.events[count]
      if (event === undefined) {
        await sleep(20)
        continue
      }
      count += 1
      if (event.type === 'ERROR') break
      const { resourceVersion } = event.object.metadata
      this.#seenVersions.set(path, resourceVersion)
      this.#changes.push({ version: Number(resourceVersion), plural: pluralOf(path), type: event.type, object: event.object })
    }
    stream.close()
    if (count === 0) await sleep(50)
  }
}

const versionOf = ({ metadata }: JsonObject): string => `${metadata.name} ${metadata.resourceVersion}`
const pluralOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
