// The tests of the verbs, on etcd: what clients see does not depend on where objects are kept.

import { test } from 'node:test'
import { whyNoEtcd } from './etcd-cluster.js'

if (whyNoEtcd !== undefined) test('verbs on etcd', { skip: whyNoEtcd }, () => undefined)
else {
  process.env['TEST_ENGINES'] = 'etcd'
  await import('../verbs/read.test.js')
  await import('../verbs/write.test.js')
  await import('../verbs/paging.test.js')
  await import('../verbs/watch.test.js')
  await import('../verbs/names.test.js')
}
