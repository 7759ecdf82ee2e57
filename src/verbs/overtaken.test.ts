// Writes that make or change an object, and meet somebody who makes or deletes it at the same time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api/api-error.js'
import type { Resource } from '../api/catalog.js'
import { type ApiObject, members } from '../api/object.js'
import { systemClock } from '../base/clock.js'
import { stageOf } from '../controllers/engine.fixture.js'
import { ownCall } from '../controllers/own-call.js'
import { create } from './create.js'
import { remove } from './delete.js'
import { addressOf, type Engine } from './engine.js'
import { maxOvertaken } from './overtaken.js'
import { patch } from './patch.js'
import { update } from './update.js'

/** `meanwhile`: what somebody else does while admission is asked; is told how often it was asked before. */
async function stage(plural: string, meanwhile: (other: { make(): Promise<unknown>; drop(): Promise<unknown> }, times: number) => unknown) {
  const { engine: plain, catalog } = await stageOf('cluster', systemClock)
  const resource = catalog.find('', 'v1', plural) as Resource
  const at = (engine: Engine, fieldManager: string) => ownCall(engine, { resource, namespace: 'n', name: 'x', options: { fieldManager } })
  const data = (value: string): ApiObject =>
    ({ metadata: { name: 'x', labels: { [value]: '1' } }, ...(plural === 'configmaps' ? { data: { [value]: '1' } } : {}) }) as ApiObject
  const other = {
    make: () => create(plain, at(plain, 'other'), { object: data('other') }),
    drop: () => remove(plain, at(plain, 'other')),
  }
  let times = 0
  const engine: Engine = {
    ...plain,
    admission: {
      mutate: async () => {
        await meanwhile(other, times++)
        return undefined
      },
      validate: () => undefined,
    },
  }
  const apply = () =>
    patch(engine, at(engine, 'me'), {
      type: 'apply',
      patch: { apiVersion: resource.apiVersion, kind: resource.kind, ...data('me') },
      duplicates: [],
    })
  return {
    other,
    apply,
    put: () => update(engine, at(engine, 'me'), { object: data('me') }),
    now: () => plain.store.read(addressOf(at(plain, '')))?.decode(resource),
    asked: () => times,
  }
}

test('whoever loses the race for a creation by apply changes what is there', async () => {
  const { apply, now } = await stage('configmaps', ({ make }, times) => (times === 0 ? make() : undefined))
  assert.equal((await apply()).created, false)
  const object = now()
  assert.ok(object !== undefined)
  assert.deepEqual(members(object)['data'], { other: '1', me: '1' })
  assert.deepEqual(
    object.metadata?.managedFields?.map(({ manager, operation }) => [manager, operation]),
    [
      ['me', 'Apply'],
      ['other', 'Update'],
    ],
  )
})

test('an object that is deleted while somebody applies it is made again', async () => {
  const { apply, now, other } = await stage('configmaps', ({ drop }, times) => (times === 0 ? drop() : undefined))
  await other.make()
  assert.equal((await apply()).created, true)
  assert.deepEqual(members(now() ?? {})['data'], { me: '1' })
})

test('the same for kinds that a PUT makes, and for no others', async () => {
  const lost = await stage('endpoints', ({ make }, times) => (times === 0 ? make() : undefined))
  assert.equal((await lost.put()).created, false)
  const gone = await stage('endpoints', ({ drop }, times) => (times === 0 ? drop() : undefined))
  await gone.other.make()
  assert.equal((await gone.put()).created, true)
  const plain = await stage('configmaps', ({ drop }, times) => (times === 0 ? drop() : undefined))
  await plain.other.make()
  await assert.rejects(plain.put(), (thrown) => thrown instanceof ApiError && thrown.status.code === 404)
})

test('nobody is overtaken for ever', async () => {
  const { apply, asked } = await stage('configmaps', ({ make, drop }, times) => (times % 2 === 0 ? make() : drop()))
  await assert.rejects(apply(), (thrown) => thrown instanceof ApiError && thrown.status.reason === 'AlreadyExists')
  assert.equal(asked(), maxOvertaken)
})
