// Each link is one key of the store: keeping one reads and writes nothing but that.
export default async function ({ keep, forget }, { settings, store }) {
  if (forget) for (const key of await store.list(`link:${forget}`)) await store.delete(key);

  let last = (await store.get('last')) ?? 0; // undefined where nothing was stored yet
  for (const link of keep) await store.set(`link:${link}`, { number: ++last });
  await store.set('last', last);

  const links = await Promise.all(
    (await store.list('link:')).map(async (key) => ({ link: key.slice('link:'.length), ...(await store.get(key)) })),
  );
  const newestFirst = (await settings.get('order')) === 'newest'; // or 'example-settings.order'
  links.sort((a, b) => (newestFirst ? b.number - a.number : a.number - b.number));

  const shown = links.slice(0, await settings.get('most'));
  return [`${links.length} kept`, ...shown.map(({ link }) => link)].join('\n');
}
