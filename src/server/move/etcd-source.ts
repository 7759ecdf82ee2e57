// The data in an etcd as a source: as of one revision, while servers may go on using it.

import { readFormat } from '../../storage/etcd/claim-prefix.js'
import { listEntries } from '../../storage/etcd/list-entries.js'
import { createNumbering } from '../../storage/etcd/numbering.js'
import { closingOnFailure, type EtcdPlace, newestStep } from './etcd-place.js'
import { type MovedEntry, MoveError, type MoveSource } from './moved-entry.js'

/** `exclusive`: nobody may have written to it when it was read to the end. */
export function openEtcdSource(place: EtcdPlace, exclusive: boolean): Promise<MoveSource> {
  return closingOnFailure(place, () => open(place, exclusive))
}

async function open(place: EtcdPlace, exclusive: boolean): Promise<MoveSource> {
  const format = await readFormat(place)
  if (!format) throw new MoveError(`there is no store under the prefix ${place.keys.prefix} of etcd`)
  if (format.isUnfinished) throw new MoveError(`a restore to the prefix ${place.keys.prefix} of etcd has not ended`)
  const numbering = createNumbering(format.base)
  const before = await newestStep(place)
  return {
    mark: format.mark,
    revision: numbering.endOf(before.now),
    async *pages(): AsyncGenerator<readonly MovedEntry[], void, undefined> {
      for await (const { entries } of listEntries({ ...place, numbering, step: before.now })) if (entries.length > 0) yield entries
    },
    async checkUnchanged() {
      if (exclusive && (await newestStep(place)).data !== before.data) {
        throw new MoveError('etcd was written to meanwhile: stop all servers that use it, and begin again')
      }
    },
    close: () => place.client.close(),
  }
}
