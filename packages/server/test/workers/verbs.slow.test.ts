// Runs the tests of the API verbs (../verbs) with two worker processes; consecutive requests are served by different workers.

process.env['TEST_ENGINES'] = 'workers'
await import('../verbs/read.test.js')
await import('../verbs/delete.test.js')
await import('../verbs/representations.test.js')
await import('../verbs/watch.test.js')
await import('../verbs/several-commits.test.js')
await import('../verbs/paging.test.js')
await import('../verbs/patch.test.js')
await import('../verbs/write.test.js')
await import('../verbs/names.test.js')
