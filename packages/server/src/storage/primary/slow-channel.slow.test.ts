// Runs the storage contract with a worker's engine whose channel delays every chunk: each step of the protocol then happens late, and in
// every order with the checkpoints of the data file.

import { after, before, describe } from 'node:test'
import { storageContract } from '../contract/storage.contract.js'
import { openContract, PrimaryHarness } from './primary-harness.fixture.js'

let primary: PrimaryHarness

describe('a worker with a slow channel', () => {
  before(() => {
    primary = new PrimaryHarness()
  })
  after(() => primary.close())

  // Delays are random: from less than a commit takes to several times as long.
  storageContract('worker, up to 10 ms', () => openContract(primary, 10))
})
