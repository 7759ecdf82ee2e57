// Storage contract: the tests that every storage engine must pass.

import { afterEach, beforeEach, describe } from 'node:test'
import { changesContract } from './changes.contract.js'
import { ContractHarness, type StorageUnderTest } from './contract-harness.js'
import { lifetimeContract } from './lifetime.contract.js'
import { rangesContract } from './ranges.contract.js'
import { writesContract } from './writes.contract.js'

export function storageContract(name: string, open: () => Promise<StorageUnderTest>): void {
  describe(`storage contract: ${name}`, () => {
    const harness = new ContractHarness()
    beforeEach(async () => harness.use(await open()))
    afterEach(() => harness.close())

    writesContract(harness)
    rangesContract(harness)
    changesContract(harness)
    lifetimeContract(harness)
  })
}
