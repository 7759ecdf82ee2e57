// A replica in a process of its own, to be looked at, stopped and killed. It does what it is told in lines, and answers each of them with one.
//
// node replica-process.js <endpoints> <prefix> <quietMs>
//   read <key>          →  read <revision> <'at once' or 'asked'> <value>
//   put <key> <value>   →  put <revision>
//   close               →  closed

import { createInterface } from 'node:readline'
import { openReplica, put } from './open-replica.js'

const [endpoints = '', prefix = '', quietMs] = process.argv.slice(2)
const replica = await openReplica({ endpoints: endpoints.split(','), prefix, quietMs: Number(quietMs) })
const say = (line: string): boolean => process.stdout.write(`${line}\n`)
say('open')

const read = async (key: string): Promise<void> => {
  const reading = replica.readIndex()
  const how = typeof reading === 'number' ? 'at once' : 'asked'
  const revision = await reading
  say(`read ${revision} ${how} ${replica.read(key)?.value}`)
}

for await (const line of createInterface({ input: process.stdin })) {
  const [verb, key = '', value = ''] = line.split(' ')
  if (verb === 'read') await read(key)
  else if (verb === 'put') say(`put ${await put(replica, key, value)}`)
  else break
}
await replica.close()
say('closed')
