// The work through npm's @kubernetes/client-node.

import { importClientNode } from '../../test/clients/obtain-client-node.js'
import { perform, type Task } from './task.js'

await perform(async ({ configuration, library: path, namespace }) => {
  const library = await importClientNode(path)
  const config = new library.KubeConfig()
  config.loadFromFile(configuration)
  const api = config.makeApiClient(library.CoreV1Api)
  const watch = ({ resourceVersion, count }: Task): Promise<number> =>
    new Promise((resolve, reject) => {
      let seen = 0
      new library.Watch(config)
        .watch(
          `/api/v1/namespaces/${namespace}/configmaps`,
          { resourceVersion },
          (type, { metadata }) => {
            if (type === 'ADDED' && metadata.name !== undefined && metadata.resourceVersion !== undefined && ++seen === count) resolve(seen)
          },
          reject,
        )
        .catch(reject)
    })
  return {
    list: async () => (await api.listNamespacedConfigMap({ namespace })).items.length,
    watch,
    watchByFunction: watch,
    // Their events are objects that were parsed, whoever reads them.
    watchObjects: watch,
    get: async ({ count }) => {
      let seen = 0
      for (let i = 0; i < count; i++) {
        if ((await api.readNamespacedConfigMap({ namespace, name: `object-${i}` })).data !== undefined) seen++
      }
      return seen
    },
  }
})
