// Runs most tests of the API verbs in this folder on the memory engine.

process.env['TEST_ENGINES'] = 'memory'
await import('./read.test.js')
await import('./delete.test.js')
await import('./representations.test.js')
await import('./watch.test.js')
await import('./several-commits.test.js')
await import('./paging.test.js')
await import('./patch.test.js')
await import('./write.test.js')
