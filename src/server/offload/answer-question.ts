// What the event loop answers to questions of the thread for heavy requests about the storage.

import { ownersIn } from '../../admission/owner-kinds.js'
import type { TakeEvents } from '../../admission/plugins/event-rate-limit.js'
import type { CatalogSource } from '../../api/catalog-source.js'
import type { Entry, Storage } from '../../storage/storage.js'
import { failureOf } from './failure.js'
import type { Question, Reply, SentEntry } from './messages.js'
import { copyOf } from './own-bytes.js'

export interface Asked {
  readonly storage: Storage
  readonly catalogs: Pick<CatalogSource, 'current'>
  readonly takeEvents: TakeEvents
}

export function answerQuestion(asked: Asked, question: Question): Reply<unknown> {
  try {
    return replyOf(asked.storage, find(asked, question))
  } catch (thrown) {
    return { failure: failureOf(thrown) }
  }
}

export const replyOf = <T>({ revision, compacted }: Storage, value: T): Reply<T> => ({ value, state: { revision, compacted } })

function find({ storage, catalogs, takeEvents }: Asked, question: Question): unknown {
  switch (question.about) {
    case 'state':
      return undefined
    case 'read':
      return sentEntry(storage.read(question.key))
    case 'staleness':
      return storage.isStale?.(question.key) ?? false
    case 'range': {
      const page = storage.range(question.query)
      return { ...page, entries: page.entries.map(sentEntry) }
    }
    case 'count':
      return storage.count(question.range, question.at)
    case 'changes':
      return storage.changes(question.query)
    case 'owners':
      return ownersIn(catalogs.current, question.apiVersion, question.kind)
    case 'events':
      return takeEvents(question.keys)
  }
}

/** With bytes of its own: what is sent is the whole memory that a view is of. */
export const sentEntry = (entry: Entry | undefined): SentEntry | undefined =>
  entry === undefined ? undefined : { ...entry, value: copyOf(entry.value) }
