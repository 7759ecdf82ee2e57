// Runs the tasks of the client benchmark with @kubernetes/client-node.

import { importClientNode } from '../../test/clients/obtain-client-node.js'
import { runTask, type Task } from './task.js'

await runTask(async ({ configuration, library: path, namespace }) => {
  const library = await importClientNode(path)
  const config = new library.KubeConfig()
  config.loadFromFile(configuration)
  const api = config.makeApiClient(library.CoreV1Api)
  const watch = ({ resourceVersion, count }: Task): Promise<number> =>
    new Promise((resolve, reject) => {
      let received = 0
      new library.Watch(config)
        .watch(
          `/api/v1/namespaces/${namespace}/configmaps`,
          { resourceVersion },
          (type, { metadata }) => {
            if (type === 'ADDED' && metadata.name !== undefined && metadata.resourceVersion !== undefined && ++received === count)
              resolve(received)
          },
          reject,
        )
        .catch(reject)
    })
  return {
    list: async () => (await api.listNamespacedConfigMap({ namespace })).items.length,
    watch,
    watchByCallback: watch,
    // client-node always parses the object of an event, so this is the same task as `watch`.
    watchObjects: watch,
    get: async ({ count }) => {
      let received = 0
      for (let i = 0; i < count; i++) {
        if ((await api.readNamespacedConfigMap({ namespace, name: `object-${i}` })).data !== undefined) received++
      }
      return received
    },
  }
})
