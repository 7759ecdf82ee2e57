// Objects that several client tests send.

export const podOf = (name: string, metadata: Readonly<Record<string, unknown>> = {}, spec: Readonly<Record<string, unknown>> = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'main', image: 'registry.example/main:1' }], ...spec },
})

export const deploymentOf = (name: string, { replicas = 2, image = 'registry.example/web:1' } = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, labels: { app: name } },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        containers: [
          {
            name: 'web',
            image,
            ports: [{ name: 'http', containerPort: 8080 }],
            env: [
              { name: 'COLOUR', value: 'blue' },
              { name: 'SIZE', value: '4' },
            ],
          },
        ],
      },
    },
  },
})

export const serviceOf = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
})

export const nodeOf = (name: string) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } })

/** A CRD with schema, printer column, status and scale. */
export const widgetDefinition = (group: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', shortNames: ['wd'], categories: ['all'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'A widget is a thing of the test.',
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', minimum: 1, maximum: 9, description: 'Size.' },
                  colour: { type: 'string', default: 'green' },
                },
              },
              status: { type: 'object', properties: { size: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
})
