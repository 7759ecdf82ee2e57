// The work through npm's @kubernetes/client-node.

import { importClientNode } from '../../test/clients/obtain-client-node.js'
import { perform } from './task.js'

await perform(async ({ configuration, library: path, namespace }) => {
  const library = await importClientNode(path)
  const config = new library.KubeConfig()
  config.loadFromFile(configuration)
  const api = config.makeApiClient(library.CoreV1Api)
  return {
    list: async () => (await api.listNamespacedConfigMap({ namespace })).items.length,
    watch: ({ resourceVersion, count }) =>
      new Promise((resolve, reject) => {
        let seen = 0
        new library.Watch(config)
          .watch(
            `/api/v1/namespaces/${namespace}/configmaps`,
            { resourceVersion },
            (_, { metadata }) => {
              if (metadata.name !== undefined && ++seen === count) resolve(seen)
            },
            reject,
          )
          .catch(reject)
      }),
    get: async ({ count }) => {
      let seen = 0
      for (let i = 0; i < count; i++) {
        if ((await api.readNamespacedConfigMap({ namespace, name: `object-${i}` })).data !== undefined) seen++
      }
      return seen
    },
  }
})
