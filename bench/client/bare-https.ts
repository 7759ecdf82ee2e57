// Runs the tasks of the client benchmark with node:https and JSON.parse only, without status checks, limits or watch resumption.

import { Agent, get } from 'node:https'
import { findConnection } from 'cluster-apiserver/client'
import { runTask, type Task } from './task.js'

interface Item {
  readonly metadata?: { readonly name?: string }
  readonly data?: object
}

await runTask(async ({ configuration, namespace }) => {
  const { cluster, user } = findConnection({ file: configuration })
  const ca = Buffer.from(cluster['certificate-authority-data'] ?? '', 'base64').toString()
  const agent = new Agent({ keepAlive: true, ca })
  /** Passes each chunk of the response to `take`. Resolves when `take` returns true or the response ends. */
  const read = (path: string, take: (chunk: Buffer) => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const url = `${cluster.server}/api/v1/namespaces/${namespace}/configmaps${path}`
      get(url, { agent, headers: { authorization: `Bearer ${user.token ?? ''}` } }, (message) => {
        message.on('data', (chunk: Buffer) => {
          if (take(chunk)) resolve()
        })
        message.on('end', resolve)
      }).on('error', reject)
    })
  const readJson = async (path: string): Promise<unknown> => {
    const chunks: Buffer[] = []
    await read(path, (chunk) => chunks.push(chunk) < 0)
    return JSON.parse(Buffer.concat(chunks).toString())
  }
  const watch = async ({ resourceVersion, count }: Task): Promise<number> => {
    let seen = 0
    let rest: Buffer = Buffer.alloc(0)
    await read(`?watch=true&resourceVersion=${resourceVersion}`, (chunk) => {
      const end = chunk.lastIndexOf(10)
      if (end >= 0) {
        const text = Buffer.concat([rest, chunk.subarray(0, end)]).toString()
        for (const line of text.split('\n')) if ((JSON.parse(line) as { readonly object: Item }).object.metadata?.name !== undefined) seen++
        rest = chunk.subarray(end + 1)
      } else rest = Buffer.concat([rest, chunk])
      return seen === count
    })
    return seen
  }
  return {
    list: async () => ((await readJson('')) as { readonly items: readonly Item[] }).items.length,
    watch,
    watchByCallback: watch,
    watchObjects: watch,
    get: async ({ count }: Task) => {
      let seen = 0
      for (let i = 0; i < count; i++) if (((await readJson(`/object-${i}`)) as Item).data !== undefined) seen++
      return seen
    },
  }
})
