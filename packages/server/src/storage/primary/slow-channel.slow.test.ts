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

  for (const delayMs of [2, 30]) storageContract(`worker, ${delayMs} ms`, () => openContract(primary, delayMs))
})
