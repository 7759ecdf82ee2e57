// Runs the tests of reads, writes, pages, watches and names (../verbs) on the etcd engine.

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
