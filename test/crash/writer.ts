// A writer with keys of its own: it creates, changes and deletes them until the server is gone, and tells the model what it was promised.

import assert from 'node:assert/strict'
import type { Answer, ApiClient } from '../kit/api-client.js'
import { configMapOf } from '../kit/fixtures.js'
import type { Random } from '../kit/seeded-random.js'
import { knownOf, type StoreModel } from './store-model.js'

export interface WriterInput {
  readonly name: string
  readonly path: string
  readonly model: StoreModel
  readonly random: Random
}

const keysPerWriter = 6
const deletionChance = 0.25

export class Writer {
  private readonly input: WriterInput
  private written = 0

  constructor(input: WriterInput) {
    this.input = input
  }

  /** Ends when an answer does not come, which is a doubt and no error; how many writes were acknowledged. */
  async work(client: ApiClient): Promise<number> {
    const { name, random } = this.input
    for (let acknowledged = 0; ; acknowledged++) {
      if (!(await this.write(client, `${name}-${random.below(keysPerWriter)}`))) return acknowledged
    }
  }

  private async write(client: ApiClient, key: string): Promise<boolean> {
    const { model, random, name } = this.input
    const known = model.known(key)
    if (known !== undefined && random.next() < deletionChance) return this.delete(client, key, known.version)
    this.written += 1
    // Some values are long, so that pages of the store are split and freed.
    const value = `${name}:${this.written}:${'x'.repeat(random.below(10) === 0 ? random.below(20_000) : random.below(200))}`
    const floor = model.highest
    const answer = await (known === undefined
      ? this.create(client, key, value)
      : this.update(client, { key, value, version: known.version }))
    if (answer === undefined) {
      model.doubt(key, { value })
      return false
    }
    assert.equal(answer.status, known === undefined ? 201 : 200, `${key}: ${answer.text.slice(0, 500)}`)
    const { version } = knownOf(answer.json)
    model.acknowledge(key, { value, version }, floor)
    return true
  }

  private create(client: ApiClient, key: string, value: string): Promise<Answer | undefined> {
    return client.post(this.input.path, configMapOf(key, { data: { v: value } })).catch(() => undefined)
  }

  private update(
    client: ApiClient,
    write: { readonly key: string; readonly value: string; readonly version: number },
  ): Promise<Answer | undefined> {
    const { key, value, version } = write
    const object = { metadata: { name: key, resourceVersion: String(version) }, data: { v: value } }
    return client.put(`${this.input.path}/${key}`, object).catch(() => undefined)
  }

  private async delete(client: ApiClient, key: string, version: number): Promise<boolean> {
    const options = { preconditions: { resourceVersion: String(version) } }
    const answer = await client.delete(`${this.input.path}/${key}`, options).catch(() => undefined)
    if (answer === undefined) {
      this.input.model.doubt(key, { value: undefined })
      return false
    }
    assert.equal(answer.status, 200, `${key}: ${answer.text.slice(0, 500)}`)
    this.input.model.acknowledgeDeletion(key)
    return true
  }
}
