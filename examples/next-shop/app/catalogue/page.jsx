import { catalogue } from '../../lib/products'

export const metadata = { title: 'Catalogue' }

export default async function Page() {
  const { version } = await catalogue()
  return <p>{`catalogue version=${version};`}</p>
}
