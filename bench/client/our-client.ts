// Runs the tasks of the client benchmark with cluster-apiserver/client.

import { connect } from 'cluster-apiserver/client'
import { runTask } from './task.js'

await runTask(async ({ configuration, namespace }) => {
  const maps = connect({ file: configuration }).core.v1.configMaps(namespace)
  return {
    list: async () => (await maps.list()).items.length,
    watch: async ({ resourceVersion: from, count }) => {
      let seen = 0
      for await (const { type, name, resourceVersion } of maps.watch({ resourceVersion: from })) {
        if (type === 'ADDED' && name !== '' && resourceVersion !== '' && ++seen === count) break
      }
      return seen
    },
    watchByCallback: async ({ resourceVersion: from, count }) => {
      let seen = 0
      await maps
        .watch({ resourceVersion: from })
        .each(({ type, name, resourceVersion }) => !(type === 'ADDED' && name !== '' && resourceVersion !== '' && ++seen === count))
      return seen
    },
    watchObjects: async ({ resourceVersion, count }) => {
      let seen = 0
      for await (const { object } of maps.watch({ resourceVersion })) if (object.metadata?.name !== undefined && ++seen === count) break
      return seen
    },
    get: async ({ count }) => {
      let seen = 0
      for (let i = 0; i < count; i++) if ((await maps.get(`object-${i}`)).data !== undefined) seen++
      return seen
    },
  }
})
