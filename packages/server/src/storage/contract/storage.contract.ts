// What every engine must do, sentence by sentence of storage.ts; each engine's test runs this suite against itself.

import { afterEach, beforeEach, describe } from 'node:test'
import { changesContract } from './changes.contract.js'
import { type StorageUnderTest, Subject } from './contract-subject.js'
import { lifetimeContract } from './lifetime.contract.js'
import { rangesContract } from './ranges.contract.js'
import { writesContract } from './writes.contract.js'

export function storageContract(name: string, open: () => Promise<StorageUnderTest>): void {
  describe(`storage contract: ${name}`, () => {
    const subject = new Subject()
    beforeEach(async () => subject.use(await open()))
    afterEach(() => subject.close())

    writesContract(subject)
    rangesContract(subject)
    changesContract(subject)
    lifetimeContract(subject)
  })
}
