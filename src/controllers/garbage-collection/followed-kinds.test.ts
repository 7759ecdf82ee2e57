// Kinds that are not served any more are remembered for a while, and no longer.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Catalog, type Resource } from '../../api/catalog.js'
import { identityOf } from '../../api/identity.js'
import { definitions } from '../../resources/index.js'
import { FollowedKinds, rememberedMs } from './followed-kinds.js'

const catalogOf = (...names: readonly string[]): Catalog =>
  new Catalog({
    identity: identityOf('cluster'),
    definitions: definitions.filter(({ resource }) => names.includes(resource)),
    isServed: ({ version }) => version === 'v1',
  })

test('a kind that is gone is forgotten after a while, unless something of it is left or it comes back', () => {
  const [all, fewer] = [catalogOf('pods', 'secrets', 'nodes'), catalogOf('pods')]
  const kinds = new FollowedKinds()
  const put = (): boolean[] => ['pods', 'secrets', 'nodes'].map((name) => kinds.put(all.find('', 'v1', name) as Resource))
  assert.deepEqual(put(), [true, true, true])
  assert.deepEqual(put(), [false, false, false])
  const isEmpty = ({ name }: Resource): boolean => name !== 'nodes'
  const left = (): readonly string[] => ['pods', 'secrets', 'nodes'].filter((name) => kinds.has(name))
  kinds.forgetUnserved(fewer, 1000, isEmpty)
  kinds.forgetUnserved(fewer, 999 + rememberedMs, isEmpty)
  assert.deepEqual(left(), ['pods', 'secrets', 'nodes'])
  // It was back meanwhile, and the time begins anew.
  kinds.forgetUnserved(all, 999 + rememberedMs, isEmpty)
  kinds.forgetUnserved(fewer, 1000 + rememberedMs, isEmpty)
  assert.deepEqual(left(), ['pods', 'secrets', 'nodes'])
  kinds.forgetUnserved(fewer, 1000 + 2 * rememberedMs, isEmpty)
  assert.deepEqual(left(), ['pods', 'nodes'])
  assert.deepEqual([...kinds.all()].map(({ name }) => name).sort(), ['nodes', 'pods'])
})
