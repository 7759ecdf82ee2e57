// A replica in a process of its own, to be killed and stopped: counts, and prints every acknowledged addition.
//
// node counting-process.js <endpoints> <prefix> <mirror folder>

import { Counting } from './counters.js'
import { openReplica } from './open-replica.js'
import { WatchedState } from './watched-state.js'

const [endpoints = '', prefix = '', mirrorFolder = ''] = process.argv.slice(2)
const replica = await openReplica({ endpoints: endpoints.split(','), prefix, mirrorFolder })
const watched = new WatchedState(replica)
const counting = new Counting({ storages: [replica], keys: ['c/1', 'c/2', 'c/3'] })
process.stdout.write('open\n')

const said = new Map<string, number>()
setInterval(() => {
  for (const [key, count] of counting.acknowledged) {
    const news = count - (said.get(key) ?? 0)
    said.set(key, count)
    if (news > 0) process.stdout.write(`${key} ${news}\n`)
  }
}, 5)

process.on('SIGTERM', async () => {
  await counting.stop()
  await replica.readIndex()
  watched.check()
  await replica.close()
  process.stdout.write('closed\n')
  process.exit(0)
})
